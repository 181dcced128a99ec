import { devInstanceRoutes } from '../../../api/devinstance/routes.ts'
import { Problem } from '../../../api/http/problem.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { askBy } from '../../support/crash/ask.ts'
import type { OneProcess } from '../../support/crash/process.ts'
import { resourcesIn } from '../../support/crash/rest.ts'
import type { Asking, Story } from '../../support/crash/story.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { cloud, finalizeBody, reservation } from '../../support/stage/devinstances.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'
import { kubectlFor, type Namespace } from '../../support/stage/stage.ts'

/** What is said of a dev instance after it was set up, wherever the processes die, and whether or not it is said again. */

const of = cloud()
const ask = reservation({ agents: [] })
const profile = { capabilities: ['devbox.manage'], cost_cap_usd: 100 }
const GONE = { instanceGone: true, eipGone: true, volumesGone: true }
const byRoutes = askBy(devInstanceRoutes)

type Call = { word: string; body?: object; id?: string; method?: string }

/** @returns the instance as it stands then */
const say = async (
  { api }: OneProcess,
  { word, body, id = '', method = 'POST' }: Call,
  asking?: Asking,
): Promise<Json> => {
  const path = id === '' ? '/api/devboxes' : `/api/devboxes/:id${word && `/${word}`}`
  const asked = { params: { id }, key: `the word ${word}`, profile, ...(body !== undefined && { body }) }
  const answer = await byRoutes(api, `${method} ${path}`, asked, asking)
  return (answer.body as { devbox?: Json } | undefined)?.devbox ?? {}
}

/** From a reservation on, each with what it needs of the one before. */
const BEFORE: readonly ((box: Json) => Omit<Call, 'id'>)[] = [
  () => ({ word: '', body: ask }),
  () => ({ word: 'provisioning', body: { instanceId: of.instanceId } }),
  () => ({ word: 'token' }),
  (box) => ({ word: 'finalize', body: finalizeBody({ ...box, instanceId: of.instanceId }, of) }),
  ({ version }) => ({ word: 'stopped', body: { version } }),
]
const WORDS = { reserved: 1, configuring: 3, ready: 4, stopped: 5 } as const

type Stand = {
  state: string | null
  version: string | null
  history: string
  facts: string
  held: number
  micro: string
}
const STAND = `
select
  (select view -> 'box' ->> 'state' from mirror where kind = 'DevInstance') as state,
  (select view -> 'box' ->> 'version' from mirror where kind = 'DevInstance') as version,
  (select coalesce(string_agg(kind, ' ' order by n), '') from devbox_history) as history,
  (select coalesce(string_agg(kind || ' ' || state, ' ' order by seq), '') from facts where state <> 'accepted') as facts,
  (select count(*)::int from devbox_addresses where released_at is null) as held,
  (select coalesce(string_agg(committed_micro_usd || coalesce(' gone ' || (deleted_at is not null), ''), ' '), '')
    from devboxes) as micro`

const standIn = async (url: string): Promise<Stand> => (await query(url, STAND))[0] as Stand

type Tale = {
  given: keyof typeof WORDS
  play(process: OneProcess, box: Json, asking: Asking, databaseUrl: string): Promise<unknown>
  /** What each request leaves, one after the other, as far as the story says it; the last is the whole. */
  ends: readonly Partial<Stand>[]
}

const fits = (stand: Stand, end: Partial<Stand>): boolean =>
  Object.entries(end).every(([field, value]) => stand[field as keyof Stand] === value)

spec('a dev instance that was set up, whose operator dies at any call', (t) => {
  let namespace: Namespace
  t.before(async () => {
    namespace = await makeDemoNamespace({ capabilities: ['devbox.manage'] })
  })
  t.after(() => namespace.remove())

  const clear = async () => {
    const kubectl = kubectlFor(namespace.kubeconfig)
    for (const { kind, metadata } of await resourcesIn(namespace.name)) {
      if (kind !== 'DevInstance') continue
      const lift = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}']
      await kubectl(['patch', 'dbx', metadata.name, '-n', namespace.name, ...lift]).catch(() => '')
      await kubectl(['delete', 'dbx', metadata.name, '-n', namespace.name, '--ignore-not-found'])
    }
  }

  const story = ({ given, play, ends }: Tale): Story<unknown> => {
    let box: Json = {}
    let begun: Stand | undefined
    let databaseUrl = ''
    const whole = ends.at(-1) ?? {}
    return {
      options: { namespace: namespace.name, mailPort: 9 },
      prepare: async (url) => {
        databaseUrl = url
        begun = undefined
      },
      setUp: async (process) => {
        for (const step of BEFORE.slice(0, WORDS[given])) {
          const call = step(box)
          box = await say(process, { ...call, id: call.word === '' ? '' : box.id })
        }
      },
      play: async (process, asking) => {
        begun ??= await standIn(databaseUrl)
        return play(process, box, asking, databaseUrl)
      },
      isSettled: async (url) => fits(await standIn(url), whole),
      look: async (url) => {
        const stand = await standIn(url)
        assert.ok(fits(stand, whole), JSON.stringify(stand))
      },
      alone: (url) =>
        // its resource goes a second after its status said that it is deleted, and nothing is owed meanwhile
        eventually('it to stand where a request ends', async () => {
          const stand = await standIn(url)
          if (JSON.stringify(stand) === JSON.stringify(begun)) return 'nothing'
          const end = ends.findIndex((one) => fits(stand, one))
          if (end < 0) return null
          return end === ends.length - 1 ? 'all of it' : `${end + 1} of ${ends.length} requests`
        }),
      stand: standIn,
      fingerprint: async (url) => [
        (await resourcesIn(namespace.name)).map(({ metadata }) => metadata),
        await query(url, 'select kind, name, xmin::text from mirror order by 1, 2'),
        await query(url, 'select max(rev) as rev from devboxes'),
      ],
      mayDo: /^(get|list) |^sql (mirror_|observe_|turn_outbox|take_epoch|put_mirror|find_)/,
      looked: /^sql (observe_devboxes|mirror_unknown)/,
      clear,
    }
  }

  const READY = 'reserved provisioning configuring ready'

  sweep(t, { what: 'it has its new name once', callsMin: 8, points: 1 }, () =>
    story({
      given: 'reserved',
      play: (process, { id, version }, asking) =>
        say(process, { id, word: 'renamed', body: { version, name: 'another-name' } }, asking),
      ends: [{ state: 'reserved', version: '2', history: 'reserved renamed', facts: '' }],
    }),
  )

  const resized = () =>
    story({
      given: 'ready',
      async play(process, { id, version }, asking) {
        await say(process, { id, word: 'resizing', body: { version, sizeClass: 'S' } })
        const body = { version: version + 1, sizeClass: 'S', diskGb: 50, verifiedDf: '50G', state: 'ready' }
        return say(process, { id, word: 'resized', body }, asking)
      },
      ends: [
        { state: 'resizing', history: `${READY} resizing`, facts: '' },
        { state: 'ready', history: `${READY} resizing resized`, facts: '', held: 1 },
      ],
    })

  sweep(t, { what: 'it has its new size once', callsMin: 16, points: 2 }, resized)
  sweep(
    t,
    { what: 'its new size once, though the next life dies too', callsMin: 16, points: 1, diesAgain: true },
    resized,
  )

  sweep(t, { what: 'what kubectl wishes is recorded once, and done once', callsMin: 16, points: 3 }, () =>
    story({
      given: 'ready',
      async play(process, { id, version }, asking, databaseUrl) {
        const wish = ['--type=merge', '-p', '{"spec":{"power":"stopped"}}']
        await kubectlFor(namespace.kubeconfig)(['patch', 'dbx', id, '-n', namespace.name, ...wish])
        await eventually('the wish to be taken', async () => Number((await standIn(databaseUrl)).version) > version)
        return say(process, { id, word: 'stopped', body: { version: version + 1 } }, asking)
      },
      ends: [
        { state: 'ready', history: `${READY} wished`, facts: '', held: 1 },
        { state: 'stopped', history: `${READY} wished stopped`, facts: '', held: 1 },
      ],
    }),
  )

  sweep(t, { what: 'its address is released once', callsMin: 8, points: 1 }, () =>
    story({
      given: 'stopped',
      play: (process, { id, version }, asking) =>
        say(process, { id, word: 'eip-released', body: { version, allocationId: of.eipAllocId } }, asking),
      ends: [{ state: 'stopped', history: `${READY} stopped address.released`, facts: '', held: 0 }],
    }),
  )

  sweep(t, { what: 'what was not as it should be is refused once, and on record', callsMin: 8, points: 1 }, () =>
    story({
      given: 'configuring',
      async play(process, box, asking) {
        const { facts, ...rest } = finalizeBody({ ...box, instanceId: of.instanceId }, of)
        const body = { ...rest, facts: { ...facts, httpTokens: 'optional' } }
        const refusal = await say(process, { id: box.id, word: 'finalize', body }, asking).catch((error) => error)
        if (asking.headers.prefer === undefined) assert.is((refusal as Problem).code, 'ASSERTION_FAILED', `${refusal}`)
      },
      ends: [
        {
          state: 'configuring',
          history: 'reserved provisioning configuring contradicted address.changed',
          facts: 'devbox.finalize refused',
          held: 1,
        },
      ],
    }),
  )

  sweep(t, { what: 'it is terminated once, and its row is kept', callsMin: 16, points: 2 }, () =>
    story({
      given: 'ready',
      async play(process, { id, version }, asking) {
        const end = async () => {
          await say(process, { id, word: 'terminated', body: { version, ...GONE } })
          await say(process, { id, word: '', method: 'DELETE' }, asking)
        }
        // who asks again finds that it is gone
        const error = await end().catch((thrown: unknown) => thrown)
        if (error !== undefined) assert.ok(error instanceof Problem && error.code === 'NOT_FOUND', String(error))
      },
      ends: [
        { state: 'terminated', history: `${READY} terminated`, facts: '', held: 0 },
        { state: null, history: `${READY} terminated deleted`, facts: '', held: 0 },
      ],
    }),
  )

  sweep(t, { what: 'what is said of it once it is deleted is on record once', callsMin: 16, points: 2 }, () =>
    story({
      given: 'ready',
      async play(process, { id, version }, asking) {
        const unlessGone = (work: Promise<Json>) =>
          work.catch((error: unknown) => {
            assert.ok(error instanceof Problem && error.code === 'NOT_FOUND', String(error))
          })
        await unlessGone(say(process, { id, word: 'terminated', body: { version, ...GONE } }))
        await unlessGone(say(process, { id, word: '', method: 'DELETE' }))
        await unlessGone(say(process, { id, word: 'started', body: { version } }, asking))
      },
      ends: [
        { state: 'terminated', history: `${READY} terminated`, facts: '', held: 0 },
        { state: null, history: `${READY} terminated deleted`, facts: '', held: 0 },
        { state: null, history: `${READY} terminated deleted contradicted`, facts: 'devbox.started refused', held: 0 },
      ],
    }),
  )
})
