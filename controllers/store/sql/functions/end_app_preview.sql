-- Nothing is left of a preview: noted and told once. Those that ended 30 days ago go with it. in_event: as for tell_event.
create or replace function end_app_preview(
  in_lease text, in_epoch bigint, in_app text, in_reason text, in_event json, in_at timestamptz(3)
)
returns void
language plpgsql
as $$
declare
  v_parent text;
begin
  perform fence(in_lease, in_epoch);
  update app_previews p set ended_at = in_at, reason = in_reason where p.app = in_app and p.ended_at is null
  returning p.parent into v_parent;
  if found then
    perform tell_event(in_app, 'preview-ended:' || iso_ms(in_at), in_event, in_at);
    delete from app_previews p where p.parent = v_parent and p.ended_at < in_at - interval '30 days';
  end if;
end
$$;
