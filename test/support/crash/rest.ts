import { type Kube, makeKube } from '../../../controllers/kube/kube.ts'
import { KINDS } from '../../../crds/kinds.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { serviceKubeconfig } from '../stage/stage.ts'

/**
 * What must hold when a client never comes back, whatever it has asked for: everything that was taken in is decided, and every
 * view is that of the resource as it stands. It knows no story.
 */

export type Resting = {
  kind: string
  metadata: { name: string; uid: string; generation: number; deletionTimestamp?: string }
  spec: { asked?: number }
  status?: { observedGeneration?: number; conditions?: { type: string; status: string }[] }
}

let watcher: Kube | undefined

/** Every resource in a namespace. */
export const resourcesIn = async (namespace: string): Promise<Resting[]> => {
  watcher ??= makeKube({ kubeconfig: serviceKubeconfig('controllers') })
  const kube = watcher
  const lists = await Promise.all(
    KINDS.map(async (kind) => {
      const { items } = await kube.list<Resting>(kind, { namespace })
      return items.map((object) => ({ ...object, kind: kind.kind }))
    }),
  )
  return lists.flat()
}

type Row = { kind: string; name: string; uid: string; generation: string; observed: string }

const MIRROR = `
select kind, name, uid, generation::text, observed_generation::text as observed from mirror where not archived`

/** What a resource and its row still owe one another. */
const owedBy = (object: Resting, row: Row | undefined): string[] => {
  const { kind, metadata } = object
  const what = `${kind}/${metadata.name}`
  const isCurrent = row?.uid === metadata.uid && Number(row.observed) === metadata.generation
  if (metadata.deletionTimestamp !== undefined) return [`${what} is being deleted`]
  return [
    ...(object.status?.observedGeneration !== metadata.generation
      ? [`${what} was not looked at since it changed`]
      : []),
    ...(isCurrent ? [] : [`${what} is shown as it was`]),
  ]
}

/** One word for each row that is not decided. $1 is the platform's instant. */
const OWED = `
select resource_kind || '/' || resource || ': the fact ' || key || ' is pending' as what from facts where state = 'pending'
-- A mail that its server refused is due again later.
union all select resource || ': ' || channel || ' ' || purpose || ' is ' || state from outbox
  where channel <> 'event' and (state = 'sending' or (due_at is not null and due_at <= $1::timestamptz))
union all select resource || ': ' || purpose || ' is due' from schedule where due_at <= $1::timestamptz
union all select account || '/' || issuer || ': a logo is pending' from issuer_logos where state = 'pending'
union all select site || ' is queued' from site_queue
union all select app || ': ' || kind || ' is ' || state from app_operations where state = 'running'
union all select app || ': release ' || number || ' is leaving' from app_releases
  where state in ('superseded', 'failed') and retired_at is null
union all select app || ': replicas of release ' || number || ' are leaving' from app_releases
  where state = 'live' and jsonb_array_length(record -> 'leaving') > 0
union all select app || ': a command is ' || state || ', and on its host' from app_runs
  where ended_at is null or dropped_at is null
union all select app || ': a backup is ' || state || ', and on its host' from app_backups
  where ended_at is null or dropped_at is null
union all select app || ': ' || host || ' is ' || place from app_slugs
  where place = 'coming' or (place = 'left' and until <= $1::timestamptz)
-- Whoever was cut off and came back at once may have been let in by what the gate knew a second ago.
union all select app || ': what was open is to be ended once more' from app_routes
  where let_in ->> 'access' <> 'public' and jsonb_array_length(let_in -> 'again') > 0
union all select endpoint || ': a delivery is under way' from deliveries
  where state = 'pending' and due_at <= $1::timestamptz and begun > 0`

/** An operation that is queued counts once its resource asks for it. */
const askedOf = async (databaseUrl: string, resources: readonly Resting[]): Promise<string[]> => {
  const queued = await query(databaseUrl, "select app, n from app_operations where state = 'queued'")
  return queued.flatMap(({ app, n }) => {
    const asked = resources.find(({ metadata }) => metadata.name === app)?.spec.asked ?? 0
    return asked >= Number(n) ? [`${app}: operation ${n} is queued`] : []
  })
}

/** @param now of the platform @returns what is not at rest, in words; nothing when all of it is */
export const unrest = async (databaseUrl: string, namespace: string, now: Date): Promise<string[]> => {
  const resources = await resourcesIn(namespace)
  const rows = (await query(databaseUrl, MIRROR)) as Row[]
  const owed = await query(databaseUrl, OWED, [now.toISOString()])
  const isHeld = (row: Row) => resources.some((one) => one.kind === row.kind && one.metadata.name === row.name)
  return [
    ...resources.flatMap((object) =>
      owedBy(
        object,
        rows.find((row) => row.kind === object.kind && row.name === object.metadata.name),
      ),
    ),
    ...rows.filter((row) => !isHeld(row)).map(({ kind, name }) => `${kind}/${name} is shown, and is no more`),
    ...owed.map(({ what }) => String(what)),
    ...(await askedOf(databaseUrl, resources)),
  ]
}
