-- Asks for a link. Every address costs the same writes, so that the time tells nobody which ones have an account: the
-- mail to a stranger, and one mail too many, lie in a channel that nobody serves. The links and mails of yesterday are cleared on the way.
create or replace function ask_signin(
  in_id text, in_email text, in_next text, in_open boolean, in_message_id text, in_now timestamptz,
  in_expires timestamptz, in_max integer
) returns void
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  known text;
  -- As the account has it, not as it was typed just now.
  address text;
  wanted boolean;
  old text[];
begin
  known := (
    select m.view ->> 'email' from mirror m
    where m.kind = 'Account' and lower((m.view ->> 'email') collate "C") = lower(in_email collate "C")
    order by m.created_at, m.name limit 1
  );
  address := coalesce(known, in_email);
  wanted := (in_open or known is not null) and (
    -- Nobody's mailbox is filled by somebody else's clicking, and nobody waits for a link longer than a minute.
    (
      select count(*) from (
        select from signins s
        where lower(s.email collate "C") = lower(in_email collate "C") and s.created_at > in_now - interval '15 minutes'
        limit in_max
      ) recent
    ) < in_max
    or not exists (
      select from signins s join outbox o on o.resource = 'signin/' || s.id and o.purpose = 'signin' and o.channel = 'mail'
      where lower(s.email collate "C") = lower(in_email collate "C") and s.created_at > in_now - interval '1 minute'
    )
  );
  old := array(
    select s.id from signins s where s.expires_at < in_now - interval '1 day'
    order by s.expires_at limit 20 for update skip locked
  );
  delete from signins s where s.id = any (old);
  delete from outbox o where o.resource = any (array(select 'signin/' || k from unnest(old) k)) and o.purpose = 'signin';
  insert into signins (id, email, next_path, created_at, expires_at)
  values (in_id, address, in_next, in_now, in_expires);
  insert into outbox (
    kind, resource, purpose, channel, message_id, payload, state, last_error, due_at, created_at, settled_at
  )
  values (
    'Account', 'signin/' || in_id, 'signin', case when wanted then 'mail' else 'none' end, in_message_id,
    jsonb_build_object('mail', 'signin', 'id', in_id, 'email', address, 'until', iso_ms(in_expires)),
    case when wanted then 'queued' else 'failed' end, case when not wanted then 'nobody to send this to' end,
    case when wanted then in_now end, in_now, case when not wanted then in_now end
  );
end
$$;
