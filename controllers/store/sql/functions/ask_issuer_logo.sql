create or replace function ask_issuer_logo(in_account text, in_default text, in_issuer text, in_source text, in_at timestamptz)
returns bigint
language sql security definer set search_path = public, pg_temp
begin atomic
  select keep_default_issuer(in_account, in_default);
  insert into issuer_logos (account, issuer, source, asked_at) values (in_account, in_issuer, in_source, in_at)
  returning seq;
end;
