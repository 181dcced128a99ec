-- Keeps a report: as the latest, and in the ring of the last in_ring, and when the latest came that attests something. Gives the one before it.
--   in_used_at  when it tells of use, else null
create or replace function report_devbox(
  in_resource text, in_body jsonb, in_at timestamptz(3), in_ring integer, in_used_at timestamptz(3)
)
returns table (previous json)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  held devbox_report_heads;
  next_n bigint;
  -- A clock that is ahead says nothing of what is to come.
  used timestamptz(3) := case when in_used_at > in_at then in_at else in_used_at end;
  attested timestamptz(3) := case when in_body ? 'attested' then in_at end;
begin
  insert into devbox_report_heads (resource, n, received_at, body, used_at, attested_at)
  values (in_resource, 1, in_at, in_body, used, attested)
  on conflict do nothing;
  if found then
    next_n := 1;
  else
    select h.* into held from devbox_report_heads h where h.resource = in_resource for update;
    next_n := held.n + 1;
    update devbox_report_heads h set
      n = next_n, received_at = in_at, body = in_body, used_at = greatest(h.used_at, used),
      attested_at = coalesce(attested, h.attested_at)
    where h.resource = in_resource;
    previous := json_build_object('at', iso_ms(held.received_at), 'body', held.body);
  end if;
  insert into devbox_reports (resource, slot, received_at, body)
  values (in_resource, next_n % in_ring, in_at, in_body)
  on conflict (resource, slot) do update set received_at = excluded.received_at, body = excluded.body;
  return next;
end
$$;
