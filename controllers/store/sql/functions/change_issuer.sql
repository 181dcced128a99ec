-- Gives null, or the code it is refused with. in_change is a merge patch of the profile; in_archived null leaves that as it
-- is; in_series are the registers of the issuer in the present year, that of its invoices first.
create or replace function change_issuer(
  in_account text, in_default text, in_id text, in_change jsonb, in_archived boolean, in_at timestamptz,
  in_series text[], in_year text, in_next bigint
) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  held issuers;
  wanted jsonb;
  wanted_prefix text;
  refused text;
begin
  perform keep_default_issuer(in_account, in_default);
  select i.* into held from issuers i where i.account = in_account and i.id = in_id for update;
  if not found then
    return 'NOT_FOUND';
  end if;
  wanted := jsonb_strip_nulls(held.profile || in_change);
  wanted_prefix := coalesce(wanted ->> 'numberPrefix', 'INV');
  -- Claims wait here from now on, in the order in which they themselves lock.
  perform from (select s.id from series s where s.id = any (in_series) order by s.id for no key update) locked;
  if wanted_prefix <> held.prefix and exists (
    select from series s
    where s.id = any (in_series) and s.last_seq >= s.first_seq
      and s.prefix not in (wanted_prefix || in_year, 'CN' || wanted_prefix || in_year)
  ) then
    return 'PREFIX_IN_USE';
  end if;
  if in_next is not null then
    refused := set_next_number(in_account, in_series[1], wanted_prefix || in_year, in_next);
    if refused is not null then
      return refused;
    end if;
  end if;
  update series s set prefix = wanted_prefix || in_year
  where s.id = in_series[1] and s.last_seq < s.first_seq and s.prefix <> wanted_prefix || in_year;
  update issuers i set profile = wanted, updated_at = in_at,
    archived_at = case in_archived when true then coalesce(i.archived_at, in_at) when false then null else i.archived_at end
  where i.account = in_account and i.id = in_id;
  return null;
end
$$;
