-- Adds to the log of a release what was read of the host's log from in_from to in_to, and says of the running step how far it is. False,
-- and nothing, when somebody else has read on from there. Of a release the first 128 KiB are kept and the last 384; of an app the last 30 releases.
--   in_lines  a list of texts  in_note  null: nothing new is said
create or replace function keep_app_log(
  in_lease text, in_epoch bigint, in_app text, in_release integer, in_step text, in_from bigint, in_to bigint, in_fold json,
  in_lines json, in_operation text, in_note text, in_at timestamptz(3)
)
returns boolean
language plpgsql
as $$
declare
  next_n integer;
begin
  perform fence(in_lease, in_epoch);
  insert into app_kept_logs (app, release, step, at) values (in_app, in_release, in_step, in_at) on conflict do nothing;
  update app_kept_logs l set taken = in_to, fold = in_fold, at = in_at
  where l.app = in_app and l.release = in_release and l.step = in_step and l.taken = in_from;
  if not found then
    return false;
  end if;
  if json_array_length(in_lines) > 0 then
    select coalesce(max(k.n + k.count), 1) into next_n from app_kept_lines k where k.app = in_app and k.release = in_release;
    insert into app_kept_lines (app, release, n, count, step, content, at)
    select in_app, in_release, next_n, count(*), in_step, string_agg(g.line, E'\n' order by g.place), in_at
    from json_array_elements_text(in_lines) with ordinality as g(line, place);
    delete from app_kept_lines k using (
      select p.n, sum(length(p.content)) over (order by p.n) as until, sum(length(p.content)) over (order by p.n desc) as since
      from app_kept_lines p where p.app = in_app and p.release = in_release
    ) w
    where k.app = in_app and k.release = in_release and k.n = w.n and w.until > 131072 and w.since > 393216;
    delete from app_kept_lines k where k.app = in_app and k.release <= in_release - 30;
    delete from app_kept_logs l where l.app = in_app and l.release <= in_release - 30;
  end if;
  perform note_app_step(in_lease, in_epoch, in_operation, in_note);
  return true;
end
$$;
