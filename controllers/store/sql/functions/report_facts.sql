-- What somebody outside reports (api/command/report.ts). A report that carries no name of its own (`once`) is the one that stands, as
-- long as nobody can have seen what became of that: it is undecided, or the view has not taken it in. The same lock that
-- counts the facts of a resource makes it so for any number of processes.
--   in_facts  as for append_facts, and `once`; gives for each key that was asked for the row that stands for it.
create or replace function report_facts(in_facts json)
returns table (
  asked text, resource text, seq bigint, key text, kind text, body jsonb, state text, refused_code text, at text, fresh boolean
)
language plpgsql security definer set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
  named jsonb;
begin
  -- The locks of append_facts, in its order.
  perform pg_advisory_xact_lock(l.key)
  from (
    select distinct hashtextextended(f.resource, 0) as key from json_to_recordset(in_facts) as f(resource text)
    order by 1
  ) l;

  select jsonb_agg(s.fact || jsonb_build_object('asked', s.fact ->> 'key', 'key', s.key) order by s.place) into named
  from (
    select g.fact, g.place,
      case when (g.fact ->> 'once')::boolean then coalesce(
        (
          select f.key from facts f
          where f.resource = g.fact ->> 'resource' and f.kind = g.fact ->> 'kind' and f.body = g.fact -> 'body'
            and (
              f.state = 'pending'
              or f.seq > (
                select min((m.view ->> 'fact_seq')::bigint) from mirror m
                where m.kind = f.resource_kind and m.name = f.resource
              )
            )
          order by f.seq limit 1
        ),
        -- Two of one call are one as well.
        first_value(g.fact ->> 'key') over (
          partition by g.fact ->> 'resource', g.fact ->> 'kind', g.fact -> 'body', g.fact ->> 'once' order by g.place
        )
      ) else g.fact ->> 'key' end as key
    from json_array_elements(in_facts) with ordinality as j(value, place)
    cross join lateral (select j.value::jsonb as fact, j.place) g
  ) s;

  return query
  with stands as materialized (select * from append_facts(null, null, named::json))
  select n.asked, a.resource, a.seq, a.key, a.kind, a.body, a.state, a.refused_code, a.at, a.fresh and n.asked = a.key
  from jsonb_to_recordset(named) as n(asked text, resource text, key text)
  join stands a on a.resource = n.resource and a.key = n.key;
end
$$;
