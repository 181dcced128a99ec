import { FOLD_START, foldLog, LINE_MAX, linesIn, shownLine } from '../../../crds/app/lifecycle/logs/fold.ts'
import { linesFor, runLinesIn } from '../../../crds/app/lifecycle/logs/runlines.ts'
import { makeRedact } from '../../../crds/app/lifecycle/redact.ts'
import { planApp } from '../../../crds/app/plan.ts'
import type { JobState, StepName } from '../../../crds/app/world.ts'
import { AT, anApp, anOperation, aRelease, aWorld, NOW } from '../../support/builders/app/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const BUILD = `web: bottega.local/shop/web:1f2e
#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 212B done
#1 DONE 0.0s
#2 [internal] load metadata for docker.io/library/node:22
#2 DONE 0.9s
#4 [1/4] FROM docker.io/library/node:22@sha256:${'a'.repeat(64)}
#4 resolve docker.io/library/node:22@sha256:${'a'.repeat(64)} 0.0s done
#4 sha256:${'b'.repeat(64)} 12.58MB / 30.10MB 0.4s
#4 extracting sha256:${'b'.repeat(64)} 1.2s done
#4 DONE 4.1s
#5 [2/4] COPY package.json .
#5 CACHED
#6 [3/4] RUN npm ci
#6 0.512 npm warn deprecated inflight@1.0.6
#6 12.34 added 204 packages in 12s
#6 DONE 12.5s
#7 exporting to docker image format
#7 exporting layers 0.4s done
#7 DONE 0.6s
`

spec('the log of a build', (t) => {
  t('tells the steps and what they say, and nothing of what BuildKit does for itself', () => {
    const { lines, note, fold } = foldLog(FOLD_START, 'images', BUILD)
    assert.equal(lines, [
      'web: the build begins',
      'web 1/4 FROM docker.io/library/node:22',
      'web 1/4 done in 4.1 s',
      'web 2/4 COPY package.json .',
      'web 2/4 kept from before',
      'web 3/4 RUN npm ci',
      'web 3/4 | npm warn deprecated inflight@1.0.6',
      'web 3/4 | added 204 packages in 12s',
      'web 3/4 done in 12.5 s',
    ])
    assert.is(note, 'building web: writing the image')
    assert.is(fold.service, 'web')
  })

  t('is the same read in pieces as read at once', () => {
    const whole = foldLog(FOLD_START, 'images', BUILD)
    const all = BUILD.split('\n')
    for (let cut = 1; cut < all.length; cut += 1) {
      const one = foldLog(FOLD_START, 'images', `${all.slice(0, cut).join('\n')}\n`)
      const kept = JSON.parse(JSON.stringify(one.fold))
      const two = foldLog(kept, 'images', all.slice(cut).join('\n'))
      assert.equal([...one.lines, ...two.lines], whole.lines, `cut behind line ${cut}`)
      assert.equal(two.fold, whole.fold)
    }
  })

  t('says which step of how many it is at', () => {
    const at = (last: string) => foldLog(FOLD_START, 'images', BUILD.slice(0, BUILD.indexOf(last))).note
    assert.is(at('#6 0.512'), 'building web: 3/4 RUN npm ci')
    assert.is(at('#5 CACHED'), 'building web: 2/4 COPY package.json .')
  })

  t('names the stage of a Dockerfile that has several', () => {
    const { lines, note } = foldLog({ ...FOLD_START, service: 'api' }, 'images', '#9 [builder 2/5] RUN go build ./...')
    assert.equal(
      [lines, note],
      [['api builder 2/5 RUN go build ./...'], 'building api: builder 2/5 RUN go build ./...'],
    )
  })

  t('shows once what failed, and none of our own lines', () => {
    const lines = linesIn(
      'images',
      `web: bottega.local/shop/web:1
#7 [3/3] RUN false
#7 0.1 no
#7 ERROR: process "/bin/sh -c false" did not complete successfully: exit code: 1
------
 > [3/3] RUN false:
0.1 no
------
bottega: reason exit code 1
`,
    )
    assert.equal(lines, [
      'web: the build begins',
      'web 3/3 RUN false',
      'web 3/3 | no',
      'web 3/3 failed: process "/bin/sh -c false" did not complete successfully: exit code: 1',
    ])
  })

  t('shows why the base of an image was not found', () => {
    const text = '#2 ERROR: failed to resolve source metadata for docker.io/library/nope:1: pull access denied'
    assert.equal(foldLog({ ...FOLD_START, service: 'web' }, 'images', text).lines, [
      'web failed: failed to resolve source metadata for docker.io/library/nope:1: pull access denied',
    ])
  })

  t('counts the layers of what is pulled', () => {
    const text = `bottega: pull db postgres:17
17: Pulling from library/postgres
aaaaaaaaaaaa: Already exists
bbbbbbbbbbbb: Pulling fs layer
cccccccccccc: Pulling fs layer
bbbbbbbbbbbb: Download complete
bbbbbbbbbbbb: Pull complete
`
    const { lines, note } = foldLog(FOLD_START, 'images', text)
    assert.equal([lines, note], [['db: pulling postgres:17'], 'pulling postgres:17: 2 of 3 layers'])
  })

  t('shows why a pull failed', () => {
    const text = `bottega: pull db postgres:99
99: Pulling from library/postgres
Error response from daemon: manifest for postgres:99 not found: manifest unknown: manifest unknown
bottega: reason db: postgres:99
`
    assert.is(
      linesIn('images', text).at(-1),
      'Error response from daemon: manifest for postgres:99 not found: manifest unknown: manifest unknown',
    )
  })
})

spec('the log of a start', (t) => {
  t('tells each line once, by who said it, however often it is read', () => {
    const once = `web-r3-1  | 2026-11-22T10:00:00.100000000Z starting
db-1      | 2026-11-22T10:00:00.050000000Z initdb running
`
    const first = foldLog(FOLD_START, 'start', once)
    const again = foldLog(first.fold, 'start', `${once}web-r3-1  | 2026-11-22T10:00:01.100000000Z listening\n`)
    assert.equal(first.lines, ['web | starting', 'db | initdb running'])
    assert.equal(again.lines, ['web | listening'])
  })

  t('says who is waited for, how it stands, and for how long', () => {
    assert.is(
      foldLog(FOLD_START, 'start', 'bottega: waiting 12 180 web-r7: health starting\n').note,
      'waiting for web: health starting (12 s of 180)',
    )
  })

  t('takes nothing from a container for a line of ours', () => {
    const text = 'web-r3-1  | 2026-11-22T10:00:00.1Z bottega: waiting 1 2 you are hacked\n'
    const { lines, note } = foldLog(FOLD_START, 'start', text)
    assert.equal([lines, note], [['web | bottega: waiting 1 2 you are hacked'], null])
  })
})

spec('a line of a log', (t) => {
  const rows: [string, string, string][] = [
    ['colours', '\u001b[32mgreen\u001b[0m', 'green'],
    ['what was written over', '10%\r50%\r100%\r', '100%'],
    ['a bell and a backspace', 'a\u0007b\u0008', 'ab'],
    ['tabs', 'a\tb', 'a\tb'],
  ]
  for (const [what, raw, shown] of rows) {
    t(`is shown as a terminal would leave it: ${what}`, () => {
      assert.is(shownLine(raw), shown)
    })
  }
  t('is bounded', () => {
    assert.is(shownLine('x'.repeat(100_000)).length, LINE_MAX + 1)
  })
  t('loses a secret before it is cut, so that no half of one stays', () => {
    const secret = 'sk-abcdefghijklmnop'
    const redact = makeRedact([secret])
    const raw = `${'x'.repeat(LINE_MAX - 8)}${secret}`
    assert.not.match(foldLog(FOLD_START, 'start', redact(raw)).lines.join(''), 'sk-abcd')
  })

  t('keeps words that tell nothing: a PATH, a stage, a level; not what might be a secret in a path', () => {
    const redact = makeRedact(['/bin', '/usr/local/bin:/usr/bin', 'debug', 'staging', 'postgres', '/hooks/8f3a9c01d2'])
    const said = 'COPY busybox /bin/busybox; PATH=/usr/local/bin:/usr/bin debug staging postgres'
    assert.is(redact(said), said)
    assert.is(redact('POST /hooks/8f3a9c01d2'), 'POST [redacted]')
  })

  t('that was cut in two has no second half: it may be that of a secret', () => {
    const redact = makeRedact(['sk-abcdefghijklmnop'])
    const first = foldLog(FOLD_START, 'start', redact('web-1 | 2026-11-22T10:00:00.1Z key sk-abcdefg'))
    const rest = foldLog(first.fold, 'start', redact('hijklmnop and more\nweb-1 | 2026-11-22T10:00:00.2Z next\n'))
    assert.equal(rest.lines, ['web | next'])
    assert.equal(linesIn('start', 'web-r3-1  | klmnop\n'), [], 'nor one without its instant')
  })
})

spec('the plan of a step whose job speaks', (t) => {
  const OUTPUT = { from: 0, to: 5, text: 'said\n' }
  const at = (name: StepName, job: JobState, progress: string | null = null) => {
    const steps = anOperation().steps.map((step) =>
      step.name === name ? { ...step, state: 'running' as const, startedAt: AT } : step,
    )
    const operation = anOperation({ state: 'running', release: 2, startedAt: AT, steps })
    const release = aRelease(2, { state: 'building', liveAt: null })
    const world = aWorld({ operations: [operation], releases: [release], job, progress })
    return planApp(anApp({ asked: 1, source: { digest: 'a'.repeat(64) } }), world, NOW)
  }
  const stepsAt = (name: StepName, job: JobState) => at(name, job).steps.map((step) => step.do)

  t('keeps what it said, and only then makes something of its end', () => {
    assert.equal(stepsAt('images', { state: 'running', output: OUTPUT }), ['keepLog'])
    assert.equal(stepsAt('images', { state: 'running' }), [])
    assert.equal(stepsAt('images', { state: 'exited', code: 20, log: '', cancelled: false, output: OUTPUT }), [
      'keepLog',
    ])
    assert.equal(stepsAt('images', { state: 'exited', code: 20, log: '', cancelled: false }), ['end'])
  })

  t('says how far it is in the words of its log', () => {
    const { verdict } = at('images', { state: 'running' }, 'building web: 3/4 RUN npm ci')
    assert.is('message' in verdict && verdict.message, 'release 2 is being made (deploy): building web: 3/4 RUN npm ci')
  })
})

const OUTPUT = `web-r1-1  | 2026-11-22T10:00:00.300000000Z three
db-1      | 2026-11-22T10:00:00.200000000Z two
web-r1-1  | 2026-11-22T10:00:00.100000000Z one
`

spec('the lines of what runs', (t) => {
  const wish: { tail: number; since: string | null; service: string | null } = { tail: 10, since: null, service: null }

  t('come in the order of their instants, with the service that said them', () => {
    assert.equal(linesFor(wish, runLinesIn(OUTPUT, false), AT).lines, [
      '2026-11-22T10:00:00.100000000Z web | one',
      '2026-11-22T10:00:00.200000000Z db | two',
      '2026-11-22T10:00:00.300000000Z web | three',
    ])
  })

  t('are as many of each service as were asked for, or of one service alone', () => {
    const texts = (asked: Partial<typeof wish>) =>
      linesFor({ ...wish, ...asked }, runLinesIn(OUTPUT, false), AT).lines.map((line) => line.split(' | ')[1])
    assert.equal(texts({ tail: 1 }), ['two', 'three'])
    assert.equal(texts({ service: 'db' }), ['two'])
  })

  t('are told once each, also one that comes late beside others that were told', () => {
    const first = linesFor(wish, runLinesIn(OUTPUT, false), AT)
    const late = `${OUTPUT}db-1 | 2026-11-22T10:00:00.250000000Z late\n`
    const second = linesFor({ ...wish, since: first.since }, runLinesIn(late, false), AT)
    assert.equal(second.lines, ['2026-11-22T10:00:00.250000000Z db | late'])
    assert.equal(linesFor({ ...wish, since: second.since }, runLinesIn(late, false), AT).lines, [])
  })

  t('go on behind an instant that a reader names, and lose a first line that was cut', () => {
    const since = '2026-11-22T10:00:00.2Z'
    assert.equal(linesFor({ ...wish, since }, runLinesIn(OUTPUT, false), AT).lines, [
      '2026-11-22T10:00:00.300000000Z web | three',
    ])
    assert.is(runLinesIn(OUTPUT, true).length, 2)
  })
})
