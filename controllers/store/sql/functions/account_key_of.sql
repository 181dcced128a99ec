-- The key of the account that has a name now, or that will have it: for whoever knows nothing but the name.
create or replace function account_key_of(in_name text) returns text
language sql stable
begin atomic
  select coalesce(
    (select m.account from mirror m where m.kind = 'Account' and m.name = in_name),
    (
      select l.key from account_lives l
      where l.name = in_name and l.ended_at is null
        and l.n = (select max(f.n) from account_lives f where f.name = in_name)
    ),
    next_account_key(in_name)
  );
end;
