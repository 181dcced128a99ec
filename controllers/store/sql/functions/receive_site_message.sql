-- Takes in what a visitor wrote, with its mail and its event, in one transaction. The mail goes to the address of the account, as
-- it is on record: the caller names none. Mails of one account's messages are due one after another, so that a flood of them leaves
-- the others' mails their turns.
-- Gives kept, again (the same was written within in_same), site_full or account_full.
create or replace function receive_site_message(
  in_id text, in_site text, in_account text, in_key bytea, in_sealed bytea, in_held boolean, in_day date, in_now timestamptz,
  in_same interval, in_site_max integer, in_account_max integer, in_apart interval, in_message_id text, in_letter jsonb,
  in_event json
) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  address text;
  due timestamptz;
begin
  perform account_lock('site_messages', in_account);
  if exists (select from site_messages m where m.site = in_site and m.key = in_key and m.at > in_now - in_same) then
    return 'again';
  end if;
  if (select count(*) from site_messages m where m.account = in_account and m.day = in_day and m.site = in_site) >= in_site_max then
    return 'site_full';
  end if;
  if (select count(*) from site_messages m where m.account = in_account and m.day = in_day) >= in_account_max then
    return 'account_full';
  end if;
  address := (
    select m.view ->> 'email' from mirror m where m.kind = 'Account' and m.account = in_account
    order by m.created_at, m.name limit 1
  );
  due := case when not in_held and address is not null then greatest(
    in_now, (select max(m.mail_at) + in_apart from site_messages m where m.account = in_account and m.day >= in_day - 1)
  ) end;
  insert into site_messages (id, site, account, key, sealed, held, day, at, mail_at)
  values (in_id, in_site, in_account, in_key, in_sealed, in_held, in_day, in_now, due);
  if due is not null then
    insert into outbox (kind, resource, account, purpose, channel, message_id, payload, due_at, created_at)
    values (
      'Site', 'message/' || in_id, in_account, 'message', 'mail', in_message_id,
      in_letter || jsonb_build_object('mail', 'site-message', 'message', in_id, 'to', address), due, in_now
    );
  end if;
  perform tell_event(in_site, 'message:' || in_id, in_event, in_now);
  return 'kept';
end
$$;
