-- Every account has its default issuer, whether it was ever written or not: a row to be locked, and its prefix taken.
-- Of two that write it at a time either index may be the one that sees the other.
create or replace function keep_default_issuer(in_account text, in_default text) returns void
language sql
begin atomic
  insert into issuers (account, id, profile) values (in_account, in_default, '{}') on conflict do nothing;
end;
