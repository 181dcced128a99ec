-- A row of the outbox failed by a fault of its own: it is tried again after 1, 5, 25, 125 seconds, and then set aside.
create or replace function put_off_outbox(in_id bigint, in_reason text, in_now timestamptz(3)) returns void
language plpgsql
as $$
declare
  tries_max constant integer := 5;
begin
  update outbox o set
    attempts = o.attempts + 1, last_error = left(in_reason, 500),
    due_at = in_now + interval '1 second' * 5 ^ least(o.attempts, tries_max)
  where o.id = in_id;
  if exists (select from outbox o where o.id = in_id and o.attempts >= tries_max) then
    perform quarantine_outbox(in_id, in_reason, in_now);
  end if;
end
$$;
