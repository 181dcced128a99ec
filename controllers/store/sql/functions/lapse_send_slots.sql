-- Gives back the places whose resource never came: not sent, and taken so long ago that nobody is still at it.
create or replace function lapse_send_slots(in_account text, in_day date) returns void
language sql volatile
begin atomic
  with lapsed as (
    delete from send_slots s
    where s.account = in_account and s.day = in_day and s.taken_at < now() - interval '10 minutes'
      and not has_come('Invoice', s.resource)
      and not exists (select from register r where r.resource = s.resource and r.step = 0)
    returning 1
  )
  update send_days d set used = d.used - (select count(*)::integer from lapsed)
  where d.account = in_account and d.day = in_day and exists (select from lapsed);
end;
