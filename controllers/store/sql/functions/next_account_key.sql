-- What the next account under a name has as its key.
create or replace function next_account_key(in_name text) returns text
language sql stable
begin atomic
  select case count(distinct l.own_key) when 0 then in_name else in_name || '..' || count(distinct l.own_key) + 1 end
  from account_lives l where l.name = in_name;
end;
