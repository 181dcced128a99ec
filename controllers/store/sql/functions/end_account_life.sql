-- The deletion of an account was seen: all that opens in its name or tells of it ends. Its records stay under its key.
create or replace function end_account_life(in_lease text, in_epoch bigint, in_uid text, in_at timestamptz(3)) returns boolean
language plpgsql
as $$
declare
  ended account_lives;
begin
  perform fence(in_lease, in_epoch);
  update account_lives l set ended_at = in_at where l.uid = in_uid and l.ended_at is null returning l.* into ended;
  if not found then
    return false;
  end if;
  -- Another resource goes on as it.
  if is_account_held(ended.key, ended.name) or exists (
    select from account_lives l where l.key = ended.key and l.n > ended.n and l.ended_at is null
  ) then
    return true;
  end if;
  update tokens t set revoked_at = now() where t.account = ended.key and t.revoked_at is null;
  update sessions s set revoked_at = in_at where s.account = ended.key and s.revoked_at is null;
  delete from app_registries r where r.account = ended.key;
  delete from account_ssh_keys k where k.account = ended.key;
  delete from webhook_endpoints w where w.account = ended.key;
  -- Those of its dev instances, too, which follow a slash.
  delete from idempotency i where split_part(i.account, '/', 1) = ended.key;
  delete from operations o where o.account = ended.key;
  update devboxes d set token_hash = null where d.account = ended.key and d.token_hash is not null;
  delete from host_credentials c using mirror m where m.kind = 'Host' and m.account = ended.key and m.name = c.host;
  -- What was laid ready for resources that never came. The names of apps whose volumes stay are kept: whoever took one would
  -- take the volumes.
  delete from devboxes d where d.account = ended.key and d.box is null and not has_come('DevInstance', d.resource);
  delete from site_places p where p.account = ended.key and not has_come('Site', p.site);
  -- A base domain is looked for as long as a site of the account is below it.
  delete from site_names n
  where n.account = ended.key and n.state <> 'quarantined' and not has_come('Site', n.site) and not (
    starts_with(n.name, '*.') and exists (
      select from site_names s where s.account = n.account and s.root = n.root and s.proof = 'base'
    )
  );
  delete from app_slugs s where s.account = ended.key and s.app is not null and not has_come('App', s.app);
  return true;
end
$$;
