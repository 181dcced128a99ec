-- What a pass over an app reads of the database, in one round trip. Of the past the newest in_limit are told, and whatever
-- is still open.
create or replace function observe_app(in_app text, in_host text, in_slug text, in_now timestamptz, in_limit integer)
returns table (
  slug_holder text, operations json, releases json, env json, password_version integer, route json, logs json, has_rows boolean
)
language plpgsql stable
as $$
begin
  return query
  select
    (select s.app from app_slugs s where s.host = in_host and s.slug = in_slug),
    (
      select coalesce(json_agg(app_operation_row(p) order by p.n), '[]')
      from (
        select o.* from app_operations o where o.app = in_app and o.ended_at is null
        union
        (select o.* from app_operations o where o.app = in_app and o.ended_at is not null order by o.n desc limit in_limit)
        union
        -- What the resource asked for last, however many of the other sort came after.
        (
          select o.* from app_operations o
          where o.app = in_app and o.ended_at is not null and o.kind in ('deploy', 'rollback') order by o.n desc limit 1
        )
        union
        (
          select o.* from app_operations o
          where o.app = in_app and o.ended_at is not null and o.kind in ('deploy', 'env') order by o.n desc limit 1
        )
        union
        (
          select o.* from app_operations o
          where o.app = in_app and o.ended_at is not null and o.kind = 'move' order by o.n desc limit 1
        )
      ) p
    ),
    (
      select coalesce(json_agg(app_release_row(p) order by p.number desc), '[]')
      from (
        select r.* from app_releases r where r.app = in_app and (r.state = 'live' or r.retired_at is null)
        union
        (select r.* from app_releases r where r.app = in_app order by r.number desc limit in_limit)
      ) p
    ),
    (
      select json_build_object('version', e.version, 'keys', e.keys)
      from app_env e where e.app = in_app order by e.version desc limit 1
    ),
    (select max(p.version) from app_passwords p where p.app = in_app),
    (select json_build_object('digest', t.digest, 'address', t.address, 'letIn', t.let_in) from app_routes t where t.app = in_app),
    (
      select coalesce(json_agg(json_build_object(
        'id', l.id, 'tail', l.tail, 'follow', l.follow, 'since', l.since, 'service', l.service, 'fetchedAt', iso_ms(l.fetched_at)
      )), '[]')
      from app_log_requests l where l.app = in_app and not l.ended and l.wanted_until > in_now
    ),
    -- of one that never got its name, too: what is sealed for it goes with it
    exists (
      select from app_rooms m where m.app = in_app
      union all select from app_slugs s where s.app = in_app
      union all select from app_env e where e.app = in_app
      union all select from app_passwords p where p.app = in_app
      union all select from app_uploads u where u.app = in_app
      union all select from app_operations o where o.app = in_app
      union all select from app_releases r where r.app = in_app
      union all select from app_runs c where c.app = in_app
      union all select from app_schedules h where h.app = in_app
      union all select from app_backups b where b.app = in_app
      union all select from app_plans p where p.app = in_app
      union all select from app_access_links l where l.app = in_app
      union all select from site_names n where n.site = 'App/' || in_app and n.state <> 'quarantined'
    );
end
$$;
