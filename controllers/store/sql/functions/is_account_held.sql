-- Whether another resource than this one stands for the account of a key.
create or replace function is_account_held(in_key text, in_name text) returns boolean
language sql stable
begin atomic
  select exists (select from mirror m where m.kind = 'Account' and m.account = in_key and m.name <> in_name);
end;
