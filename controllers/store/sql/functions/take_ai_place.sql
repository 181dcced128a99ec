-- Whether there was a place. What is left of the days before is cleared away by the way.
create or replace function take_ai_place(in_id uuid, in_account text, in_pool text, in_day date, in_limit integer) returns boolean
language plpgsql
as $$
begin
  perform account_lock('ai_places/' || in_pool, in_account);
  delete from ai_places p
  where p.account = in_account and p.pool = in_pool
    and (p.day < in_day - 1 or (not p.answered and p.taken_at < now() - interval '10 minutes'));
  if (select count(*) from ai_places p where p.account = in_account and p.pool = in_pool and p.day = in_day) >= in_limit then
    return false;
  end if;
  insert into ai_places (id, account, pool, day) values (in_id, in_account, in_pool, in_day);
  return true;
end
$$;
