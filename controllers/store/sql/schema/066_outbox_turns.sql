-- Accounts take turns in the outbox (hack/decisions/110): what each has due, in the order in which it is. Events are spread in
-- their own order and need none of it; a row that concerns no account is the account '-'.
create index outbox_of_account on outbox (channel, coalesce(account, '-'), due_at, id)
  where due_at is not null and channel <> 'event';

-- It is told whose turn was last, and tells it. A version that is still running calls it without saying so.
drop function if exists turn_outbox(
  text, bigint, bigint[], integer[], text[], text[], timestamptz[], text, timestamptz, timestamptz, integer, boolean
);
