-- Whether an environment may be sealed to a key: 'brought' to the first that asks, 'again' to the same one until its machine has said that it
-- has it, else 'refused', and from the second time on 'refused before'. Of other environments and starts nothing is brought any more.
create or replace function bring_devbox_env(in_resource text, in_version text, in_recipient text, in_at timestamptz(3)) returns text
language plpgsql
as $$
declare
  known devbox_env_fetches;
begin
  insert into devbox_env_fetches (resource, version, recipient, brought_at)
  values (in_resource, in_version, in_recipient, in_at)
  on conflict do nothing;
  if found then
    delete from devbox_env_fetches f where f.resource = in_resource and f.version <> in_version;
    return 'brought';
  end if;
  select f.* into known from devbox_env_fetches f where f.resource = in_resource and f.version = in_version for update;
  if known.recipient = in_recipient and known.held_at is null then
    return 'again';
  end if;
  update devbox_env_fetches f set refused_at = in_at
  where f.resource = in_resource and f.version = in_version and f.refused_at is null;
  return case when found then 'refused' else 'refused before' end;
end
$$;
