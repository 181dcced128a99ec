-- Which rows of a channel are next when more is due than is asked for: the first one of each account, by turns from the one that
-- comes after in_after, then the second of each, and so on. Looks at no more than looks_max accounts: where so many have too
-- little due, what is due longest fills up, and the next turn goes on where this one ended.
-- Gives the account at which it ended, with the rows.
create or replace function outbox_in_turns(
  in_channel text, in_epoch bigint, in_now timestamptz, in_limit integer, in_firsts_only boolean, in_after text,
  out ended_at text, out ids bigint[]
)
language plpgsql stable
as $$
declare
  looks_max constant integer := 64;
  has_turned boolean := false;
  is_round boolean := false;
  owner text;
  own bigint[];
  found_ids bigint[] := '{}';
  found_owners text[] := '{}';
  heads integer := 0;
begin
  ended_at := in_after;
  ids := '{}';
  for look in 1..looks_max loop
    owner := (
      select coalesce(o.account, '-') from outbox o
      where o.channel = in_channel and o.channel <> 'event' and o.due_at is not null and coalesce(o.account, '-') > ended_at
      order by coalesce(o.account, '-')
      limit 1
    );
    is_round := has_turned and (owner is null or owner > in_after);
    exit when is_round;
    if owner is null then
      has_turned := true;
      ended_at := '';
      continue;
    end if;
    ended_at := owner;
    own := array(
      select o.id from outbox o
      where o.channel = in_channel and o.channel <> 'event' and coalesce(o.account, '-') = owner and o.due_at <= in_now
        and (o.state <> 'sending' or o.lease_until <= in_now or o.epoch < in_epoch)
        and (o.attempts = 0 or not in_firsts_only)
      order by o.due_at, o.id
      limit in_limit
    );
    continue when own = '{}';
    found_ids := found_ids || own;
    found_owners := found_owners || array_fill(owner, array[cardinality(own)]);
    heads := heads + 1;
    exit when heads = in_limit;
  end loop;
  select array_agg(c.id order by c.rank, c.place), (array_agg(c.owner order by c.rank desc, c.place desc))[1]
  into own, owner
  from (
    select f.id, f.owner, f.place, row_number() over (partition by f.owner order by f.place) as rank
    from unnest(found_ids, found_owners) with ordinality f(id, owner, place)
    order by rank, f.place
    limit in_limit
  ) c;
  ids := coalesce(own, '{}');
  if is_round then
    ended_at := coalesce(owner, '');
  end if;
  if cardinality(ids) < in_limit then
    ids := ids || array(
      select o.id from outbox o
      where o.channel = in_channel and o.due_at <= in_now
        and (o.state <> 'sending' or o.lease_until <= in_now or o.epoch < in_epoch)
        and (o.attempts = 0 or not in_firsts_only)
        and o.id <> all (ids)
      order by o.due_at, o.id
      limit in_limit - cardinality(ids)
    );
  end if;
end
$$;
