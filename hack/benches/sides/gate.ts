import { randomBytes } from 'node:crypto'
import { makeGateDecisions } from '../../../api/app/publishing/gate/decisions.ts'
import { verify } from '../../../api/app/publishing/gate/gate.ts'
import { makeOwnDoor } from '../../../api/command/own.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeAccessLinks } from '../../../controllers/store/app/publishing/links.ts'
import { makeMirrorReader } from '../../../controllers/store/mirror.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { GATE_HEADER } from '../../../crds/app/lifecycle/route.ts'
import { query } from '../../platform/postgres.ts'
import { type BenchContext, median } from './figure.ts'

/** What each request of a visitor of a private app costs, before its app gets it: by a password, and by a link. */

const GOAL_MS = 2
const TURNS = 20_000
/** Long enough that what is kept is read anew some times. */
const PAUSE_EVERY = 500

const VIEW = JSON.stringify({ id: 'app-bench', slug: 'bench', url: null, access: 'private', password_version: 1 })

const cookies = (keys: ReturnType<typeof keysOfOne>): Record<string, string> => {
  const untilMs = Date.now() + 3_600_000
  const byLink = keys.accessSession('app-bench\nlink\nlnk-bench\nsession', 0, untilMs)
  return {
    password: `__Host-bottega_access=${keys.accessSession('app-bench', 1, untilMs)}`,
    link: `__Host-bottega_link=lnk-bench~session~${byLink}`,
  }
}

export const measureGate = async ({ figure }: BenchContext, url: string): Promise<void> => {
  await query(
    url,
    `insert into mirror (kind, name, account, uid, generation, observed_generation, view, created_at, updated_at)
     values ('App', 'app-bench', 'account-1', 'uid', 1, 1, '${VIEW}', now(), now())`,
  )
  await query(
    url,
    `insert into app_access_links (id, app, account, scope, created_at) values ('lnk-bench', 'app-bench', 'account-1', '/', now())`,
  )
  const pg = makePg({ url })
  try {
    const keys = keysOfOne(randomBytes(32))
    const reader = makeMirrorReader({ pg })
    const { mirror } = makeOwnDoor({
      mirror: reader,
      waiter: {
        watch: () => {
          throw new Error('nobody waits here')
        },
        isLeaving: () => false,
      },
    })
    const publishing = { ...makeAccessLinks({ pg }), decisions: makeGateDecisions() }
    const deps = { keys, mirror, publishing, now: () => new Date() }
    for (const [by, cookie] of Object.entries(cookies(keys))) {
      const headers = { [GATE_HEADER.toLowerCase()]: keys.gateToken('app-bench'), cookie, 'x-forwarded-uri': '/' }
      const took: number[] = []
      for (let turn = 0; turn < TURNS; turn += 1) {
        const startedMs = performance.now()
        const { status } = await verify(deps, { headers })
        took.push(performance.now() - startedMs)
        if (status !== 204) throw new Error(`the gate answered ${status}`)
        if (turn % PAUSE_EVERY === 0) await new Promise((resolve) => setTimeout(resolve, 50))
      }
      took.sort((a, b) => a - b)
      const at = { unit: 'ms', peer: 'goal', peerValue: GOAL_MS, goal: { atMost: 1 } }
      figure({ name: `gate of a private app, by ${by}, p50`, value: median(took), ...at })
    }
  } finally {
    await pg.close()
  }
}
