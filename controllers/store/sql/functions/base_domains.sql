-- The base domains of an account, the newest claim first, as they are shown; with the names of its sites below each.
create or replace function base_domains(in_account text)
returns table (
  domain text, state text, looked_at text, due_at text, seen_at text, missing_since text, until text, reason text, checks jsonb,
  names text[]
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
  return query
  select substr(n.name, 3), n.state, iso_ms(n.looked_at), iso_ms(n.due_at), iso_ms(n.seen_at), iso_ms(n.missing_since),
    iso_ms(n.until), n.reason, n.checks,
    array(
      select s.name from site_names s
      where s.account = n.account and s.root = n.root and s.proof = 'base' and s.state <> 'quarantined'
        and substr(s.name, strpos(s.name, '.') + 1) = substr(n.name, 3)
      order by s.name
    )
  from site_names n
  where n.account = in_account and starts_with(n.name, '*.') and n.state <> 'quarantined'
  order by n.asked_at desc, n.name;
end
$$;
