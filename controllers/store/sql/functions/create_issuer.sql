-- Gives null, or the code it is refused with. A repeat under the same id is the same issuer.
-- in_series is its register of invoices in the present year, in_year what follows the prefix there, such as '-026-'.
create or replace function create_issuer(
  in_account text, in_default text, in_id text, in_profile jsonb, in_max integer,
  in_series text, in_year text, in_next bigint
) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  perform keep_default_issuer(in_account, in_default);
  -- One at a time per account, so that the count holds.
  perform from issuers i where i.account = in_account and i.id = in_default for update;
  if exists (select from issuers i where i.account = in_account and i.id = in_id) then
    return null;
  elsif (select count(*) from issuers i where i.account = in_account) >= in_max then
    return 'ISSUER_LIMIT';
  end if;
  insert into issuers (account, id, profile) values (in_account, in_id, in_profile);
  if in_next is null then
    return null;
  end if;
  return set_next_number(in_account, in_series, in_profile ->> 'numberPrefix' || in_year, in_next);
end
$$;
