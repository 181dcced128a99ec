import { PROFILE } from '../../../support/builders/devinstance.ts'
import {
  cloud,
  finalizeBody,
  makeProvisioner,
  type Provisioner,
  reservation,
} from '../../../support/stage/devinstances.ts'
import type { Json } from '../../../support/stage/invoicing.ts'
import type { Prepare, TableRow, TableRows, TableStage, Waits } from './row.ts'

const ALL = '/api/devboxes'
const NOTHING_GONE = { instanceGone: false, eipGone: false, volumesGone: false }
const GONE = { instanceGone: true, eipGone: true, volumesGone: true }
const MEASURED = { peakRssGb: 2.5, diskUsedGb: 12, repoHead: 'abcdef0' }
const TEAM = 'studio'
const ATTACHED = { gone: { never: 'a resource to which a machine is attached is not deleted' } }
/** What stands before the call. */
type Before = (box: Provisioner) => Promise<Json>

const must = async (reply: ReturnType<Provisioner['on']>): Promise<Json> => {
  const { status, json, text } = await reply
  if (status >= 202) throw new Error(`${status} ${text}`)
  return json.devbox
}

const reserved: Before = async (box) => (await box.reserve()).devbox
const provisioned: Before = async (box) => {
  const { id } = await reserved(box)
  return must(box.on(id, 'POST', 'provisioning', { instanceId: cloud().instanceId }))
}
const configuring: Before = async (box) => {
  const { id } = await provisioned(box)
  return must(box.on(id, 'POST', 'token'))
}
const ready: Before = (box) => box.toReady()
const running: Before = (box) => box.toRunning()
const stopped: Before = async (box) => {
  const { id, version } = await ready(box)
  return must(box.on(id, 'POST', 'stopped', { version }))
}
const resizing: Before = async (box) => {
  const { id, version } = await ready(box)
  return must(box.on(id, 'POST', 'resizing', { version, sizeClass: 'S' }))
}
const terminated: Before = async (box) => {
  const { id, version } = await ready(box)
  return must(box.on(id, 'POST', 'terminated', { version, ...GONE }))
}
const shared: Before = async (box) => {
  const { id } = await reserved(box)
  return must(box.on(id, 'POST', 'teams', { teamId: TEAM }))
}

const repoOf = (scannedAt: string) => ({
  repo: { url: 'https://git.acme.test/b.git' },
  profile: { ...PROFILE, scannedAt },
})

/** Rows of one stage. `by` is the owner of the instances, unless somebody else has to ask. */
const makeRows = ({ platform, boxer }: TableStage) => {
  const box = makeProvisioner(platform, boxer)
  const on =
    (before: Before, rest: string, body?: (devbox: Json) => unknown, by = boxer): Prepare =>
    async () => {
      const devbox = await before(box)
      const said = body?.(devbox)
      return { path: `${ALL}/${devbox.id}${rest}`, by, ...(said !== undefined && { body: said }) }
    }
  const row = (prepare: Prepare, refused: TableRow['refused'], more: Partial<Waits> = {}): TableRow => ({
    waits: { kind: 'dbx', prepare, status: 200, gone: 'unknown', ...more },
    refused,
  })
  return { box, on, row }
}
type Rows = ReturnType<typeof makeRows>

const RESIZED = { sizeClass: 'S', verifiedDf: '50G', state: 'ready' }

const towardsReady = ({ on, row }: Rows): TableRows => ({
  'POST /api/devboxes/:id/provisioning': row(
    on(reserved, '/provisioning', () => ({ instanceId: cloud().instanceId })),
    {
      code: 'INSTANCE_MISMATCH',
      prepare: on(provisioned, '/provisioning', () => ({ instanceId: cloud().instanceId })),
    },
    // with the machine that it reports the deletion waits
    { gone: 'succeeded' },
  ),
  'POST /api/devboxes/:id/token': row(
    on(provisioned, '/token'),
    { code: 'WRONG_STATE', prepare: on(reserved, '/token') },
    { status: 201, ...ATTACHED },
  ),
  'POST /api/devboxes/:id/finalize': row(
    on(configuring, '/finalize', (devbox) => finalizeBody(devbox)),
    {
      code: 'ASSERTION_FAILED',
      prepare: on(configuring, '/finalize', (devbox) => {
        const { facts, ...rest } = finalizeBody(devbox)
        return { ...rest, facts: { ...facts, httpTokens: 'optional' } }
      }),
    },
    ATTACHED,
  ),
})

const confirmations = ({ box, on, row }: Rows): TableRows => ({
  'POST /api/devboxes/:id/starting': row(
    on(ready, '/starting', ({ version }) => ({ version })),
    { code: 'WRONG_STATE', prepare: on(running, '/starting', ({ version }) => ({ version })) },
    ATTACHED,
  ),
  'POST /api/devboxes/:id/halting': row(
    on(running, '/halting', ({ version }) => ({ version })),
    { code: 'VERSION_CONFLICT', prepare: on(running, '/halting', () => ({ version: 1 })) },
    ATTACHED,
  ),
  'POST /api/devboxes/:id/terminating': row(
    on(ready, '/terminating', ({ version }) => ({ version })),
    { code: 'VERSION_CONFLICT', prepare: on(ready, '/terminating', () => ({ version: 1 })) },
    ATTACHED,
  ),
  'POST /api/devboxes/:id/started': row(
    on(ready, '/started', ({ version }) => ({ version })),
    { code: 'VERSION_CONFLICT', prepare: on(ready, '/started', () => ({ version: 1 })) },
    ATTACHED,
  ),
  'POST /api/devboxes/:id/stopped': row(
    on(running, '/stopped', ({ version }) => ({ version })),
    { code: 'VERSION_CONFLICT', prepare: on(running, '/stopped', () => ({ version: 1 })) },
    ATTACHED,
  ),
  'POST /api/devboxes/:id/resizing': row(
    on(ready, '/resizing', ({ version }) => ({ version, sizeClass: 'S' })),
    {
      code: 'DISK_SHRINK',
      prepare: on(ready, '/resizing', ({ version }) => ({ version, sizeClass: 'S', diskGb: 10 })),
    },
    ATTACHED,
  ),
  'POST /api/devboxes/:id/resized': row(
    on(resizing, '/resized', ({ version }) => ({ version, ...RESIZED })),
    { code: 'NO_RESIZE_INTENT', prepare: on(ready, '/resized', ({ version }) => ({ version, ...RESIZED })) },
    ATTACHED,
  ),
  'POST /api/devboxes/:id/renamed': row(
    on(reserved, '/renamed', ({ version, id }) => ({ version, name: `n-${id.slice(4, 24)}` })),
    {
      code: 'NAME_TAKEN',
      async prepare(tag) {
        const { name } = await reserved(box)
        return on(reserved, '/renamed', ({ version }) => ({ version, name }))(tag)
      },
    },
  ),
  'POST /api/devboxes/:id/eip-released': row(
    on(stopped, '/eip-released', ({ version, eipAllocId: allocationId }) => ({ version, allocationId })),
    {
      code: 'ADDRESS_MISMATCH',
      prepare: on(stopped, '/eip-released', ({ version }) => ({ version, allocationId: cloud().eipAllocId })),
    },
    ATTACHED,
  ),
  'POST /api/devboxes/:id/terminated': row(
    on(ready, '/terminated', ({ version }) => ({ version, ...GONE })),
    {
      code: 'INSTANCE_LIVE',
      prepare: on(ready, '/terminated', ({ version }) => ({ version, ...NOTHING_GONE })),
    },
    ATTACHED,
  ),
})

/** What is stored of an instance beside its state. */
const contents = ({ on, row }: Rows): TableRows => ({
  'PUT /api/devboxes/:id/repo': row(
    on(reserved, '/repo', () => repoOf(new Date().toISOString())),
    { code: 'PROFILE_STALE', prepare: on(reserved, '/repo', () => repoOf('2026-01-01T00:00:00Z')) },
  ),
  'PUT /api/devboxes/:id/measurements': row(
    on(reserved, '/measurements', () => MEASURED),
    { code: 'WRONG_STATE', prepare: on(terminated, '/measurements', () => MEASURED) },
  ),
  'PUT /api/devboxes/:id/env': row(
    on(reserved, '/env', () => ({ env: { TOKEN: 'x' } })),
    { code: 'WRONG_STATE', prepare: on(terminated, '/env', () => ({ env: { TOKEN: 'x' } })) },
  ),
})

const ends = ({ box, on, row }: Rows, { boxer, admin }: TableStage): TableRows => ({
  'POST /api/devboxes': row(
    async () => ({ path: ALL, body: reservation(), by: boxer }),
    {
      code: 'NAME_TAKEN',
      prepare: async () => ({ path: ALL, body: reservation({ name: (await reserved(box)).name }), by: boxer }),
    },
    { status: 201 },
  ),
  'PATCH /api/devboxes/:id': row(
    on(reserved, '', () => ({ policy: { idleMinutes: 45 } })),
    { code: 'WRONG_STATE', prepare: on(terminated, '', () => ({ policy: { idleMinutes: 45 } })) },
  ),
  'DELETE /api/devboxes/:id': row(
    on(reserved, ''),
    { code: 'INSTANCE_LIVE', prepare: on(ready, '') },
    { gone: 'succeeded' },
  ),
  'POST /api/devboxes/:id/cap-override': row(on(reserved, '/cap-override', undefined, admin), {
    code: 'WRONG_STATE',
    prepare: on(terminated, '/cap-override', undefined, admin),
  }),
  'POST /api/devboxes/:id/teams': row(
    on(reserved, '/teams', () => ({ teamId: TEAM })),
    { code: 'NOT_FOUND', prepare: on(reserved, '/teams', () => ({ teamId: 'elsewhere' })) },
  ),
  'DELETE /api/devboxes/:id/teams/:teamId': row(on(shared, `/teams/${TEAM}`), {
    code: 'NOT_FOUND',
    prepare: on(reserved, `/teams/${TEAM}`),
  }),
})

export const devInstanceRows = (stage: TableStage): TableRows => {
  const rows = makeRows(stage)
  return { ...towardsReady(rows), ...confirmations(rows), ...contents(rows), ...ends(rows, stage) }
}
