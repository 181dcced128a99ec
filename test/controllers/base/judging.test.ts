import { readdirSync, readFileSync } from 'node:fs'
import { JUDGE_LIMITS, judgeBusy, makeComposeJudge } from '../../../controllers/base/judging/judge.ts'
import type { ThreadLimits } from '../../../controllers/base/threads/pool.ts'
import { envFilesOf, judgeCompose } from '../../../crds/app/compose/judge.ts'
import { shared, sourceOf } from '../../support/builders/sources/upload.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** Compose files are judged aside: the same verdicts, and nobody else waits for them. */

const demo = { account: 'demo' }
const good = sourceOf({
  'docker-compose.yml': 'services: {web: {image: "nginx:1", env_file: a.env, expose: ["80"]}}',
  'a.env': 'A=1',
})
const heavy = sourceOf({ 'docker-compose.yml': Array.from({ length: 3_500 }, (_, n) => `k${n}: 1`).join('\n') })
const bad = sourceOf({ 'docker-compose.yml': 'services: {web: {image: "nginx:1", privileged: true}}' })

const withJudge = async (
  work: (judge: ReturnType<typeof makeComposeJudge>) => Promise<void>,
  limits: Partial<ThreadLimits> = {},
): Promise<void> => {
  const judge = makeComposeJudge(judgeBusy, { ...JUDGE_LIMITS, ...limits })
  try {
    await work(judge)
  } finally {
    await judge.close()
  }
}

/** Of each thread of this process (proc(5), the 19th field of stat). */
const nicenesses = (): Map<number, number> =>
  new Map(
    readdirSync('/proc/self/task').map((thread) => {
      const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
      return [Number(thread), Number(fields[16])]
    }),
  )

/** Turns of this loop while something is under way. */
const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await work.finally(() => clearInterval(timer))
  return turns
}

spec('the judge of compose files', (t) => {
  t('says in its thread what it says here', () =>
    withJudge(async ({ judge, namedFiles }) => {
      for (const source of [good, heavy, bad])
        assert.equal(await judge(source, shared, demo), judgeCompose(source, shared))
      assert.equal(await namedFiles(good, shared, demo), envFilesOf(good, shared))
      assert.equal(await namedFiles(good, shared, demo), ['a.env'])
    }),
  )

  t('leaves the loop to others', () =>
    withJudge(async ({ judge }) => {
      await judge(good, shared, demo)
      const turns = await turnsDuring(judge(heavy, shared, demo))
      const here = await turnsDuring((async () => judgeCompose(heavy, shared))())
      assert.is(here, 0, 'here nothing came in between')
      assert.ok(turns > 0, 'there something did')
    }),
  )

  t('gives way to whoever answers health and lease, where both want the same core', () =>
    withJudge(async ({ judge }) => {
      const before = nicenesses()
      await judge(good, shared, demo)
      const of = nicenesses()
      assert.is(of.get(process.pid), before.get(process.pid), 'the thread of the loop is what it was')
      const judging = [...of].filter(([thread, nice]) => !before.has(thread) && nice === 10)
      assert.ok(judging.length > 0, [...of.values()].join())
    }),
  )

  t('refuses a file that is more work than it may take, and judges on', () =>
    withJudge(
      async ({ judge, namedFiles }) => {
        const verdict = await judge(heavy, shared, demo)
        assert.ok(!verdict.ok)
        assert.equal(
          verdict.findings.map(({ rule, level, detail, next }) => [rule, level, detail, next]),
          [
            [
              'size',
              'refuse',
              'To judge the file needs more than 0 ms of CPU time.',
              'Keep only what the project needs.',
            ],
          ],
        )
        assert.equal(await namedFiles(heavy, shared, demo), [])
      },
      { cpuMaxMs: 0, lookMs: 1 },
    ),
  )

  t('serves another account between the files of one', () =>
    withJudge(async ({ judge }) => {
      const order: string[] = []
      const asked = (account: string) => judge(heavy, shared, { account }).then(() => order.push(account))
      await Promise.all([asked('a'), asked('a'), asked('a'), asked('b')])
      assert.ok(order.indexOf('b') < order.lastIndexOf('a'), order.join(' '))
    }),
  )

  t('tells an account to come again that has too many under way', () =>
    withJudge(async ({ judge }) => {
      const asked = Array.from({ length: 12 }, () => judge(heavy, shared, demo))
      const ends = await Promise.allSettled(asked)
      const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.reason] : []))
      assert.ok(refused.length > 0 && refused.every((reason) => reason === 'UNAVAILABLE'), refused.join())
      assert.ok((await judge(good, shared, { account: 'other' })).ok)
    }),
  )
})
