import fc from 'fast-check'
import { type BuildAsked, type Builds, buildOf, makeBuilds } from '../../../controllers/kinds/app/acts/builds.ts'
import { startReleaseJob } from '../../../controllers/kinds/app/acts/release.ts'
import { makeJobOf } from '../../../controllers/kinds/app/observe.ts'
import type { SealedRelease } from '../../../crds/app/sealed.ts'
import type { AppWorld } from '../../../crds/app/world.ts'
import { AT, anApp, anOperation, aRelease, aWorld } from '../../support/builders/app/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const build = (account: string, n: number, more: Partial<BuildAsked> = {}): BuildAsked => {
  return { operation: `${account}-${n}`, account, host: 'local', isShared: true, ...more }
}

spec('the builds of a host', (t) => {
  t('are a few at once, and no account has all of them', () => {
    const builds = makeBuilds()
    const taken = [1, 2, 3, 4].map((n) => builds.take(build('a', n)))
    assert.equal(taken, [true, true, false, false])
    assert.ok(builds.take(build('b', 1)), 'there is one left for whoever comes')
    assert.not.ok(builds.take(build('c', 1)))
    assert.ok(builds.take(build('c', 2, { host: 'other' })), 'of each host by itself')
    assert.ok(builds.take(build('a', 1)), 'asked once more it is the same')
  })

  t("are the owner's alone on a host of his", () => {
    const builds = makeBuilds()
    const taken = [1, 2, 3, 4].map((n) => builds.take(build('a', n, { isShared: false })))
    assert.equal(taken, [true, true, true, false])
  })

  t('go to who has the fewest, however many of another wait', async () => {
    const builds = makeBuilds()
    for (let n = 0; n < 50; n += 1) builds.take(build('a', n))
    builds.take(build('b', 1))
    builds.take(build('b', 2))
    builds.take(build('c', 1))
    builds.noteOver('a-0')
    assert.not.ok(builds.take(build('a', 2)))
    assert.not.ok(builds.take(build('b', 2)))
    assert.ok(builds.take(build('c', 1)))
    assert.ok(await builds.waits('b-2', 0))
    builds.noteOver('b-1')
    assert.not.ok(await builds.waits('b-2', 0))
    assert.ok(builds.take(build('b', 2)))
  })

  t('that another leader began count as soon as they are seen, and one of which nothing is heard no more', () => {
    let nowMs = 0
    const builds = makeBuilds({ nowMs: () => nowMs })
    for (const account of ['a', 'b', 'c']) builds.noteJob(build(account, 1), { state: 'running' })
    assert.not.ok(builds.take(build('d', 1)))
    nowMs = 100_000
    builds.noteJob(build('a', 1), { state: 'running' })
    builds.take(build('d', 1))
    nowMs = 130_000
    assert.ok(builds.take(build('d', 1)))
  })

  t('all come to their turn, whatever comes and ends', () => {
    const account = fc.constantFrom('a', 'b', 'c', 'd')
    const runs = fc.property(fc.array(account, { minLength: 1, maxLength: 40 }), fc.nat(), (accounts, seed) => {
      const builds = makeBuilds()
      const waiting = new Set(accounts.map((one, n) => build(one, n)))
      const running: BuildAsked[] = []
      const take = () => {
        const taken = [...waiting].filter((one) => builds.take(one))
        for (const one of taken) waiting.delete(one)
        running.push(...taken)
      }
      const check = () => {
        assert.ok(running.length > 0 && running.length <= 3, 'one runs whenever one waits')
        for (const one of 'abcd') assert.ok(running.filter((other) => other.account === one).length <= 2)
      }
      for (let step = 0; step < accounts.length; step += 1) {
        take()
        check()
        const [ended] = running.splice((seed + step) % running.length, 1)
        builds.noteOver(ended?.operation ?? '')
      }
      assert.equal([waiting.size, running.length], [0, 0])
    })
    fc.assert(runs, { numRuns: 200, seed: 20261128 })
  })
})

const started = async (
  builds: Builds,
  ids: readonly string[],
  { how = 'build', state = 'running' }: { how?: 'build' | 'pull'; state?: 'running' | 'exited' } = {},
) => {
  const service = { name: 'web', image: 'a:1', build: how === 'build' ? { context: '.' } : null }
  const sealed = { project: { services: [service] }, images: [] } as unknown as SealedRelease
  const jobs: string[] = []
  const said: string[] = []
  const context = {
    builds,
    here: new Map(),
    releases: { open: async () => sealed },
    images: {
      job: async (_app: unknown, _sealed: unknown, { operation }: { operation: { id: string } }) => operation.id,
    },
    hosts: {
      facts: () => ({ class: 'shared', account: null }),
      link: () => ({
        startJob: async (job: string) => {
          jobs.push(job)
          return { state }
        },
      }),
    },
    observations: { noteStart: () => {} },
    progress: {
      wantedFrom: async () => 0,
      due: (_following: unknown, state: unknown) => state,
      note: async ({ id }: { id: string }, words: string) => said.push(`${id}: ${words}`),
    },
  } as unknown as Parameters<typeof startReleaseJob>[0]
  const after: AppWorld['job'][] = []
  for (const id of ids) {
    const step = { do: 'startJob', operation: anOperation({ id }), release: aRelease(1), step: 'images' } as const
    const apply = await startReleaseJob(context, anApp(), step, async () => null)
    after.push(apply?.({ ...aWorld(), job: { state: 'absent' } }).job ?? null)
  }
  return { jobs, said, after }
}

spec('a release that is built', (t) => {
  t('is not begun while the host builds enough, waits for that, and says so', async () => {
    const builds = makeBuilds()
    const { jobs, said, after } = await started(builds, ['op-1', 'op-2', 'op-3'])
    assert.equal(jobs, ['op-1', 'op-2'])
    assert.equal(after, [{ state: 'running' }, { state: 'running' }, null])
    assert.is(said.length, 1)
    assert.match(said[0] ?? '', /^op-3: waits for its turn to be built/)
    builds.noteOver('op-1')
    assert.equal((await started(builds, ['op-3'])).jobs, ['op-3'])
  })

  t('has left its place when it was built as soon as it was begun', async () => {
    const ids = ['op-1', 'op-2', 'op-3', 'op-4']
    const { jobs, said } = await started(makeBuilds(), ids, { state: 'exited' })
    assert.equal(jobs, ids)
    assert.equal(said, [])
  })

  t('is forgotten when its images are there, pulled or built: nothing of it ends once more', () => {
    const builds = makeBuilds()
    builds.notePull('a-1')
    builds.noteJob(build('a', 1), { state: 'running' })
    builds.noteJob(build('a', 2), { state: 'running' })
    assert.ok(builds.take(build('a', 3)), 'a pull has no place')
    for (const n of [1, 2, 3]) builds.noteJob(build('a', n), { state: 'exited' })
    // that it only pulled is not known any more
    for (const n of [1, 2]) builds.noteJob(build('a', n), { state: 'running' })
    assert.not.ok(builds.take(build('a', 4)))
  })

  t('of images alone waits for nobody', async () => {
    const { jobs } = await started(makeBuilds(), ['op-1', 'op-2', 'op-3', 'op-4'], { how: 'pull' })
    assert.is(jobs.length, 4)
  })

  t('is looked for on its host once it is its turn, and counts there for as long as it runs', async () => {
    const builds = makeBuilds()
    let job: { state: string } = { state: 'running' }
    let looks = 0
    const jobOf = makeJobOf({
      builds,
      hosts: {
        facts: () => ({ name: 'local', class: 'shared', account: null }),
        link: () => ({
          jobState: async () => {
            looks += 1
            return job
          },
        }),
      },
      observations: {},
      progress: { wantedFrom: async () => 0, due: (_following: unknown, state: unknown) => state },
    } as unknown as Parameters<typeof makeJobOf>[0])
    const look = (id: string, cancelAt: string | null = null) => {
      const steps = [{ name: 'images', state: 'running' }] as AppWorld['operations'][number]['steps']
      const rows = { releases: [], operations: [anOperation({ id, state: 'running', steps, cancelAt })] }
      return jobOf(anApp(), rows as unknown as Parameters<typeof jobOf>[1])
    }
    // as a leader finds them that has just begun
    for (const id of ['op-1', 'op-2']) assert.equal(await look(id), { state: 'running' })
    assert.not.ok(builds.take(buildOf(anApp(), { id: 'op-3' }, null)))
    looks = 0
    assert.is(await look('op-3', AT), null)
    assert.is(looks, 0)
    job = { state: 'exited' }
    await look('op-1')
    job = { state: 'absent' }
    assert.equal(await look('op-3'), { state: 'absent' }, 'to be started')
    assert.ok(builds.take(buildOf(anApp(), { id: 'op-3' }, null)))
  })
})
