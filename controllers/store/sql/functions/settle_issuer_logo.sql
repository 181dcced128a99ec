-- The verdict, once: a picture, or the reason why it is none. Of the older ones of the issuer nothing needs to be known.
create or replace function settle_issuer_logo(in_lease text, in_epoch bigint, in_seq bigint, in_logo jsonb, in_reason text)
returns void
language plpgsql
as $$
declare
  settled issuer_logos;
begin
  perform fence(in_lease, in_epoch);
  update issuer_logos l set reason = in_reason, state = case when in_logo is null then 'refused' else 'taken' end
  where l.seq = in_seq and l.state = 'pending' returning l.* into settled;
  if not found then
    return;
  end if;
  delete from issuer_logos l
  where l.account = settled.account and l.issuer = settled.issuer and l.seq < settled.seq and l.state <> 'pending';
  if in_logo is not null then
    update issuers i set logo = in_logo, updated_at = now() where i.account = settled.account and i.id = settled.issuer;
  end if;
end
$$;
