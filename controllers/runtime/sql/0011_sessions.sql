-- Keys that sign sessions. The private half is sealed with the server key; a copy of the database signs nothing.
-- A key is published before it signs (signs_from) and verifies until the last session that it signed is over.
create table session_keys (
  kid text primary key check (kid <> ''),
  public_jwk jsonb not null,
  sealed bytea not null,
  created_at timestamptz(3) not null,
  signs_from timestamptz(3) not null,
  -- Set when a newer key takes over.
  verifies_until timestamptz(3)
);

-- One row per signed-in browser or script. The token itself is not kept: its id is enough to revoke it.
create table sessions (
  id text primary key check (id <> ''),
  account text not null check (account <> ''),
  how text not null check (how in ('mail', 'oidc')),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);
create index sessions_of_account on sessions (account, created_at desc);
create index sessions_over on sessions (expires_at);

-- Links to sign in by. The link is derived from the id under the server key, so nothing here opens anything.
create table signins (
  id text primary key check (id <> ''),
  email text not null check (email <> ''),
  next_path text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index signins_over on signins (expires_at);
create index signins_of_email on signins (lower(email collate "C"), created_at);

-- Only A to Z are folded: letters of other scripts that fold to these would let one address pass for another.
create index mirror_account_email on mirror (lower((view ->> 'email') collate "C"), created_at) where kind = 'Account';

-- Asks for a link. Every address costs the same writes, so that the time tells nobody which ones have an account: the
-- mail to a stranger, and one mail too many, lie in a channel that nobody serves. The links and mails of yesterday are cleared on the way.
create function ask_signin(
  in_id text, in_email text, in_next text, in_open boolean, in_message_id text, in_now timestamptz,
  in_expires timestamptz, in_max integer
) returns void
language plpgsql
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
  insert into outbox (resource, purpose, channel, message_id, payload, state, last_error, due_at, created_at, settled_at)
  values (
    'signin/' || in_id, 'signin', case when wanted then 'mail' else 'none' end, in_message_id,
    jsonb_build_object('mail', 'signin', 'id', in_id, 'email', address, 'until', iso_ms(in_expires)),
    case when wanted then 'queued' else 'failed' end, case when not wanted then 'nobody to send this to' end,
    case when wanted then in_now end, in_now, case when not wanted then in_now end
  );
end
$$;
