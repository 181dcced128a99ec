import { query } from '../../../hack/platform/postgres.ts'

/**
 * What a request reserves before it writes its resource lapses when the resource never comes: ten minutes later somebody else
 * of the same account gets the place, the name or the part of the cap.
 */

/** What is reserved for no resource, and no number. */
const ORPHANS = `
with held as (
  select 'a send' as what, s.resource, 'Invoice' as kind from send_slots s
    where not exists (select from register r where r.resource = s.resource)
  union all select 'a place of a site', p.site, 'Site' from site_places p
  union all select 'the name ' || n.name, n.site, 'Site' from site_names n where n.state <> 'quarantined' and n.site not like 'App/%'
  union all select 'the name ' || n.name, substr(n.site, 5), 'App' from site_names n
    where n.state <> 'quarantined' and n.site like 'App/%'
  union all select 'the slug ' || s.slug, s.app, 'App' from app_slugs s where s.app is not null
  union all select 'room on ' || r.host, r.app, 'App' from app_rooms r
  union all select 'a preview of ' || p.parent, p.app, 'App' from app_previews p where p.ended_at is null
  union all select 'a dev instance', d.resource, 'DevInstance' from devboxes d where d.box is null and d.deleted_at is null
)
select h.what, h.resource from held h
where not exists (select from mirror m where m.kind = h.kind and m.name = h.resource) order by 1, 2`

const AGED = [
  "update send_slots set taken_at = now() - interval '11 minutes'",
  "update site_places set taken_at = now() - interval '11 minutes'",
  "update site_names set reserved_until = now() - interval '1 minute' where reserved_until is not null",
  "update app_slugs set taken_at = now() - interval '11 minutes'",
  "update app_rooms set taken_at = now() - interval '11 minutes'",
  "update app_previews set taken_at = now() - interval '11 minutes'",
  "update devboxes set reserved_at = reserved_at - interval '11 minutes' where box is null",
]

/** Somebody else of each account comes, with no more room than what is really used leaves. */
const TAKEN = [
  // a day's sends are full but for those that lapsed
  `select take_send_slots(array['stranger'], array[1], array[d.account], array[d.day], array[d.used]) from send_days d
    where exists (
      select from send_slots s where s.account = d.account and s.day = d.day
        and not exists (select from mirror m where m.name = s.resource)
        and not exists (select from register r where r.resource = s.resource)
    )`,
  `select take_site_place('stranger', p.account, 1000) from site_places p`,
  `select take_app_slug('stranger', s.account, s.host, s.slug) from app_slugs s where s.app is not null
    and not exists (select from mirror m where m.kind = 'App' and m.name = s.app)`,
  `select take_app_room('stranger', r.account, r.host, '{"cpuMillis": 1, "memoryMib": 1, "diskGib": 1}', null) from app_rooms r
    where not exists (select from mirror m where m.kind = 'App' and m.name = r.app)`,
  `select take_app_preview('stranger', p.parent, p.account, p.ref, 1000, now(), now()) from app_previews p where p.ended_at is null
    and not exists (select from mirror m where m.kind = 'App' and m.name = p.app)`,
  `select claim_site_name(n.name, 'stranger', n.account, false, null) from site_names n
    where not exists (select from mirror m where m.kind = 'Site' and m.name = n.site)
      and not exists (select from mirror m where m.kind = 'App' and 'App/' || m.name = n.site)`,
  `select reserve_devbox('', null, 'stranger', d.account, 'stranger', 0, 9000000000000, 'v', now()) from devboxes d
    where d.box is null and d.deleted_at is null limit 1`,
]

const orphans = async (databaseUrl: string): Promise<string[]> =>
  (await query(databaseUrl, ORPHANS))
    .filter(({ resource }) => resource !== 'stranger')
    .map(({ what, resource }) => `${what} for ${resource}`)

/** @returns what is still reserved for what never came, once its bound is over; it changes the database */
export const outlived = async (databaseUrl: string): Promise<string[]> => {
  if ((await orphans(databaseUrl)).length === 0) return []
  for (const text of AGED) await query(databaseUrl, text)
  for (const text of TAKEN) await query(databaseUrl, text)
  return orphans(databaseUrl)
}
