-- Takes the logo away, and whatever is still to be looked into with it.
create or replace function drop_issuer_logo(in_account text, in_issuer text, in_at timestamptz) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  update issuer_logos set state = 'refused', reason = 'was taken away before it was looked into'
  where account = in_account and issuer = in_issuer and state = 'pending';
  update issuers set logo = null, updated_at = in_at where account = in_account and id = in_issuer and logo is not null;
end;
