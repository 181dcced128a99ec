-- The app is gone from its host. in_keeps: its volumes are still there, so its name stays its account's.
create or replace function forget_app(in_lease text, in_epoch bigint, in_app text, in_keeps boolean) returns void
language plpgsql
as $$
begin
  perform fence(in_lease, in_epoch);
  if in_keeps then
    update app_slugs s set app = null where s.app = in_app;
  else
    delete from app_slugs s where s.app = in_app;
  end if;
  delete from app_previews p where p.parent = in_app and p.ended_at is not null;
  delete from app_runs c where c.app = in_app;
  perform drop_app_backup_parts(array(select b.id from app_backups b where b.app = in_app));
  delete from app_backups b where b.app = in_app;
  delete from app_schedules h where h.app = in_app;
  delete from app_rooms m where m.app = in_app;
  delete from app_revisions v where v.app = in_app;
  delete from app_operations o where o.app = in_app;
  delete from app_releases r where r.app = in_app;
  delete from app_uploads u where u.app = in_app;
  delete from app_env e where e.app = in_app;
  delete from app_passwords p where p.app = in_app;
  delete from app_routes t where t.app = in_app;
  perform free_site_names('App/' || in_app, '{}', true);
  delete from app_plans p where p.app = in_app;
  delete from app_access_links l where l.app = in_app;
  delete from app_kept_logs l where l.app = in_app;
  delete from app_kept_lines k where k.app = in_app;
  delete from app_minutes m where m.app = in_app;
  delete from app_episodes p where p.app = in_app;
  delete from app_log_chunks c using app_log_requests l where l.id = c.request and l.app = in_app;
  delete from app_log_requests l where l.app = in_app;
end
$$;
