-- For tables whose rows are records: what was written stays.
create or replace function refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'P0001';
end
$$;

create or replace trigger register_is_append_only before update or delete on register
  for each row execute function refuse_change();
create or replace trigger register_is_never_emptied before truncate on register
  for each statement execute function refuse_change();
create or replace trigger facts_are_never_emptied before truncate on facts
  for each statement execute function refuse_change();
create or replace trigger sends_are_never_emptied before truncate on sends
  for each statement execute function refuse_change();
create or replace trigger audit_is_append_only before update or delete on audit
  for each row execute function refuse_change();
create or replace trigger audit_is_never_emptied before truncate on audit
  for each statement execute function refuse_change();
create or replace trigger audit_heads_are_kept before delete on audit_heads
  for each row execute function refuse_change();
create or replace trigger audit_heads_are_never_emptied before truncate on audit_heads
  for each statement execute function refuse_change();
create or replace trigger devboxes_are_kept before truncate on devboxes
  for each statement execute function refuse_change();
create or replace trigger devbox_history_is_append_only before update or delete on devbox_history
  for each row execute function refuse_change();
create or replace trigger devbox_history_is_never_emptied before truncate on devbox_history
  for each statement execute function refuse_change();
create or replace trigger snapshots_are_never_emptied before truncate on snapshots
  for each statement execute function refuse_change();
create or replace trigger sends_are_append_only before update on sends for each row execute function refuse_change();
create or replace trigger snapshots_are_append_only before update on snapshots
  for each row execute function refuse_change();
create or replace trigger events_are_never_changed before update on events
  for each row execute function refuse_change();
create or replace trigger events_are_never_emptied before truncate on events
  for each statement execute function refuse_change();
create or replace trigger history_heads_are_append_only before update or delete on history_heads
  for each row execute function refuse_change();
create or replace trigger history_heads_are_never_emptied before truncate on history_heads
  for each statement execute function refuse_change();
create or replace trigger history_marks_are_append_only before update or delete on history_marks
  for each row execute function refuse_change();
create or replace trigger history_marks_are_never_emptied before truncate on history_marks
  for each statement execute function refuse_change();
create or replace trigger site_name_facts_are_append_only before update or delete on site_name_facts
  for each row execute function refuse_change();
create or replace trigger site_name_facts_are_never_emptied before truncate on site_name_facts
  for each statement execute function refuse_change();
