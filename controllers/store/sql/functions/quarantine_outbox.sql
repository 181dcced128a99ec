-- Sets one row of the outbox aside: nobody tries it again until it is released.
create or replace function quarantine_outbox(in_id bigint, in_reason text, in_now timestamptz(3)) returns void
language plpgsql
as $$
begin
  update outbox o set
    state = 'failed', due_at = null, lease_until = null, settled_at = in_now, last_error = left(in_reason, 500)
  where o.id = in_id;
  insert into quarantine (source, source_id, kind, resource, account, reason, tries, at)
  select o.channel, o.id, o.kind, o.resource, o.account, left(in_reason, 500), o.attempts, in_now
  from outbox o where o.id = in_id
  on conflict (source, source_id) where released_at is null do nothing;
end
$$;
