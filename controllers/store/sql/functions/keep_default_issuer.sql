-- Every account has its default issuer, whether it was ever written or not: a row to be locked, and its prefix taken.
create or replace function keep_default_issuer(in_account text, in_default text) returns void
language sql
begin atomic
  insert into issuers (account, id, profile) values (in_account, in_default, '{}') on conflict (account, id) do nothing;
end;
