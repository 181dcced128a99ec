import { generateKeyPairSync } from 'node:crypto'
import { hostRoutes } from '../../../api/host/routes.ts'
import { makeCredentials } from '../../../controllers/store/host/hosts.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { HOST } from '../../../crds/host/kind.ts'
import type { HostResource } from '../../../crds/host/plan.ts'
import { proxyOf } from '../../../crds/host/proxy.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type Asked, askBy } from '../../support/crash/ask.ts'
import type { Life } from '../../support/crash/crash.ts'
import { keys, type OneProcess } from '../../support/crash/process.ts'
import { makeRequests, type Request } from '../../support/crash/requests.ts'
import { resourcesIn } from '../../support/crash/rest.ts'
import { answersOf, quietHost } from '../../support/crash/stories/quiethost.ts'
import type { Asking, Story } from '../../support/crash/story.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { kubectlFor, type Namespace } from '../../support/stage/stage.ts'

/**
 * A host that is approved, whose keys are changed or which is given up, wherever the processes die, and whether or not anybody
 * comes back: no other key is used than the one that its spec names, and none is kept of a host that is gone.
 */

const name = 'swept'
/** A public key that a host shows; nobody connects to it. */
const hostKey = (byte: number): string => {
  const [type, key] = ['ssh-ed25519', Buffer.alloc(32, byte)]
  const parts = [Buffer.from(type), key].flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part])
  return `${type} ${Buffer.concat(parts).toString('base64')}`
}
const [PINNED, OTHER] = [hostKey(1), hostKey(2)]
const privateKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const KEYS = { first: privateKey(), second: privateKey() }

let namespace: Namespace

const tools = ({ hostAround }: Life) => ({
  deps: { hostAround: quietHost(hostAround, answersOf(proxyOf({}))) },
  close: async () => {},
})

const byRoutes = askBy(hostRoutes)
const profile = { role: 'admin', capabilities: ['app.deploy'] }
const say =
  (what: string, asked: Asked = {}) =>
  ({ api }: OneProcess, asking?: Asking) =>
    byRoutes(api, what, { params: { id: name }, key: what, profile, ...asked }, asking)

type Stand = {
  state: string | null
  pinned: string | null
  approved: boolean | null
  /** Which of the keys the host is logged in to with. */
  key: string
  /** Whether any is kept. */
  keys: boolean
}
const STAND = `
select m.view ->> 'state' as state, m.view ->> 'host_key' as pinned, (m.view ->> 'approved')::boolean as approved,
  exists (select from host_credentials) as keys
from (select 1) one left join mirror m on m.kind = 'Host'`

const standIn = async (url: string): Promise<Stand> => {
  const found = (await resourcesIn(namespace.name)).find(({ kind }) => kind === 'Host') as HostResource | undefined
  const pg = makePg({ url, max: 1 })
  try {
    const used = await makeCredentials({ pg, keys }).open(name, found?.spec.credentialVersion ?? 0)
    const key = Object.entries(KEYS).find(([, one]) => one === used)?.[0] ?? 'none'
    return { ...((await query(url, STAND))[0] as Stand), key }
  } finally {
    await pg.close()
  }
}

const APPROVED: Stand = { state: 'approved', pinned: PINNED, approved: true, key: 'first', keys: true }

const story = (requests: readonly Request<Stand>[]): Story<unknown> => {
  const { begin, ...played } = makeRequests({
    begun: APPROVED,
    standIn,
    alive: ({ mirror }) => mirror.get(HOST, name),
    requests,
  })
  return {
    ...played,
    options: { namespace: namespace.name, mailPort: 9, tools },
    prepare: async (url) => begin(url),
    setUp: async (process) => {
      await process.operator()
      const body = { id: name, address: '127.0.0.1', user: 'deploy', host_key: PINNED, private_key: KEYS.first }
      await say('POST /api/apps/hosts', { body })(process)
      const state = async () => (await process.mirror.get(HOST, name))?.view.state
      await eventually('an inspection', async () => (await state()) === 'inspected')
      await say('POST /api/apps/hosts/:id/approve', { body: {} })(process)
    },
    fingerprint: async (url) => [
      (await resourcesIn(namespace.name)).map(({ metadata }) => metadata),
      await query(url, 'select max(xmin::text::bigint) as mirror from mirror'),
      await query(url, 'select host, version from host_credentials order by 1, 2'),
    ],
    mayDo:
      /^(get|list|ssh inspect|admin GET) ?|^sql (mirror_|observe_|host_credential$|host_routes$|turn_outbox|take_epoch|put_mirror)/,
    looked: /^(ssh inspect|sql mirror_unknown)/,
    clear: async () => {
      await kubectlFor(namespace.kubeconfig)(['delete', 'bhost', name, '-n', namespace.name, '--ignore-not-found'])
    },
  }
}

spec('a host that is approved, whose processes die at any call', (t) => {
  t.before(async () => {
    namespace = await makeDemoNamespace({ role: 'admin' })
  })
  t.after(() => namespace.remove())

  sweep(t, { what: 'it is logged in to with the new key, or with the old one', callsMin: 6, points: 2 }, () =>
    story([
      {
        what: 'another key to log in with',
        ask: say('PATCH /api/apps/hosts/:id', { body: { private_key: KEYS.second } }),
        leaves: () => ({ key: 'second' }),
      },
    ]),
  )

  sweep(t, { what: 'another key that it shows is approved once more', callsMin: 10, points: 2 }, () =>
    story([
      {
        what: 'another key that it shows',
        ask: say('PATCH /api/apps/hosts/:id', { body: { host_key: OTHER } }),
        leaves: () => ({ state: 'inspected', pinned: OTHER, approved: false }),
      },
      {
        what: 'the approval of it',
        ask: say('POST /api/apps/hosts/:id/approve', { body: {} }),
        leaves: () => ({ state: 'approved', approved: true }),
      },
    ]),
  )

  sweep(t, { what: 'it is gone once, and its key with it', callsMin: 6, points: 2 }, () =>
    story([
      {
        what: 'its removal',
        ask: say('DELETE /api/apps/hosts/:id'),
        leaves: () => ({ state: null, pinned: null, approved: null, key: 'none', keys: false }),
        repeated: 'NOT_FOUND',
      },
    ]),
  )
})
