-- One at a time counts an account's places of one sort.
create or replace function account_lock(in_what text, in_account text) returns void
language sql
begin atomic
  select pg_advisory_xact_lock(hashtextextended(in_what || '/' || in_account, 0));
end;
