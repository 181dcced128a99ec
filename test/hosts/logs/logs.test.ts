import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { canaryValue } from '../../support/canaries/answers.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppStage, bodyOf, type Project, project, startAppStage } from '../../support/stage/apps.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'

/** What a deployer reads: while it is built, while it starts, once it failed, and as it runs. On real SSH, Docker and BuildKit. */

const timeoutMs = 480_000
const GREETING = canaryValue('greeting')

const RUN = (script: string) => `RUN ${JSON.stringify(['/bin/busybox', 'sh', '-c', script])}`
const recipe = (...lines: string[]): string =>
  Buffer.from(['FROM scratch', 'COPY busybox /bin/busybox', ...lines, 'WORKDIR /tmp'].join('\n')).toString('base64')
const withRecipe = (sent: Project, ...lines: string[]): Project => ({
  ...sent,
  files: { ...sent.files, Dockerfile: recipe(...lines) },
})
const SERVE =
  '/bin/busybox mkdir -p /tmp/www; echo "$VERSION" > /tmp/www/index.html; exec /bin/busybox httpd -f -p 8080 -h /tmp/www'

/** From one look at what apps use to the next, and some more. */
const USAGE_MS = 20_000

type Event = { id: number; event: string; data: string }

const eventsIn = (text: string): Event[] =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('id: '))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? ''
      return { id: Number(field('id')), event: field('event'), data: field('data') }
    })

spec('the logs of an app', (t) => {
  let stage: AppStage
  let app: Json
  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('said', { application_policy: 'none', watch_seconds: 0 })
    const reply = await stage.api('PUT', `/api/apps/${app.id}/env`, { env: { GREETING } })
    assert.is(reply.status, 200, reply.text)
  })
  t.after(() => stage.end())

  const begin = async (sent: Project): Promise<string> => {
    const headers = { prefer: 'respond-async' }
    const reply = await stage.api('POST', `/api/apps/${app.id}/deploy`, bodyOf(sent), headers)
    assert.is(reply.status, 202, reply.text)
    return reply.json.operation_id
  }
  const operationOf = async (id: string): Promise<Json> =>
    (await stage.api('GET', `/api/apps/operations/${id}`)).json.operation
  const open = (path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(`${stage.platform.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${stage.platform.owner}`, ...headers },
      ...(signal && { signal }),
    })

  t(
    'are told while it is built and started, with how far it is, and end with it',
    async () => {
      // never built before, also where the file runs a second time on the same engine
      const slowly = `: ${randomUUID()}; for i in 1 2 3 4 5 6 7 8; do echo tick $i of the build; /bin/busybox sleep 1; done`
      const waits = 'for i in 1 2 3 4 5 6 7 8; do echo "not yet, $GREETING $i"; /bin/busybox sleep 1; done'
      const id = await begin(withRecipe(project('one', { command: `${waits}; ${SERVE}` }), RUN(slowly)))
      const path = `/api/apps/${app.id}/operations/${id}/logs`
      const said = new Set<string>()
      let isOver = false
      const watching = (async () => {
        while (!isOver) {
          const { steps } = await operationOf(id)
          for (const { name, message } of steps) if (message) said.add(`${name}: ${message}`)
          await sleep(500)
        }
      })()
      const response = await open(`${path}?follow=1`)
      assert.is(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      let text = ''
      let stateAtTick = ''
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString()
        if (stateAtTick === '' && text.includes('tick 2 of the build')) stateAtTick = (await operationOf(id)).state
      }
      isOver = true
      await watching
      const operation = await operationOf(id)
      const events = eventsIn(text)
      assert.is(operation.state, 'succeeded', JSON.stringify(operation))
      assert.is(stateAtTick, 'running', 'it was told while it ran')
      assert.equal([events.at(-1)?.event, events.at(-1)?.data], ['end', 'succeeded'])
      const lines = events.slice(0, -1)
      assert.equal(
        lines.map((line) => line.id),
        lines.map((_line, place) => place + 1),
      )
      const built = lines.filter(({ event }) => event === 'build').map(({ data }) => data)
      const ticks = built.filter((line) => line.includes(' | tick '))
      assert.equal(
        ticks,
        [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `web 2/3 | tick ${n} of the build`),
        built.join('\n'),
      )
      const started = lines.filter(({ event }) => event === 'start').map(({ data }) => data)
      assert.ok(started.includes('web | not yet, [redacted] 1'), started.join('\n'))
      assert.is(new Set(started).size, started.length, 'each line once')
      assert.not.match(text, GREETING)
      assert.not.match(text, /bottega: |transferring|sha256/)
      const all = [...said].join('\n')
      assert.ok(/^images: building web: 2\/3 RUN /m.test(all), all)
      assert.ok(/^start: waiting for web: .*\(\d+ s of \d+\)$/m.test(all), all)
      assert.match(operation.steps[2].message, '1 image built, 0 pulled')

      const half = Math.floor(lines.length / 2)
      const rest = eventsIn(await (await open(`${path}?follow=1`, { 'last-event-id': String(half) })).text())
      assert.equal(rest, events.slice(half))
      const plain = await (await open(`${path}?after=${half}`)).text()
      assert.equal(
        plain.trimEnd().split('\n'),
        lines.slice(half).map(({ data }) => data),
      )
    },
    { timeoutMs },
  )

  t(
    'name the line that made a build fail, also to kubectl, and are kept of the release that failed',
    async () => {
      const fails = RUN('echo "npm error Missing script: build"; echo "npm error A complete log of this run"; exit 1')
      const reply = await stage.deploy(app.id, withRecipe(project('two'), fails))
      const { operation, release } = reply.json
      assert.is(operation.state, 'failed', reply.text)
      assert.is(operation.result.detail, 'the build failed: npm error Missing script: build')
      assert.match(release.log_tail, /npm error Missing script: build/)
      assert.not.match(release.log_tail, /bottega: |^#\d/m)
      const conditions = ['get', 'bapp', app.id, '-o', 'jsonpath={.status.conditions}']
      await eventually('the condition to say it', async () =>
        (await stage.platform.kubectl(conditions)).includes('Missing script: build'),
      )
      const kept = await stage.api('GET', `/api/apps/${app.id}/logs?release=${release.number}`)
      assert.match(kept.text, /web 2\/3 \| npm error Missing script: build/)
      const none = await stage.api('GET', `/api/apps/${app.id}/logs?release=99`)
      assert.equal([none.status, none.json.code], [409, 'UNKNOWN_RELEASE'])
    },
    { timeoutMs },
  )

  t(
    'name the line that a service exited with',
    async () => {
      const sent = project('three', { command: `echo "Error: Cannot find module 'express'"; exit 1` })
      const { operation } = (await stage.deploy(app.id, sent)).json
      assert.is(operation.state, 'failed')
      const { detail } = operation.result
      assert.ok(/web (exited|restarted).*: Error: Cannot find module 'express'$/.test(detail), detail)
    },
    { timeoutMs },
  )

  t(
    'are read of one service, from an instant on, and followed from where one was',
    async () => {
      const ticks = (word: string) => `n=0; while :; do n=$((n+1)); echo ${word} $n; /bin/busybox sleep 1; done`
      const sent = project('four', {
        command: `(${ticks('front')}) & ${SERVE}`,
        more: `  worker:\n    build: .\n    command: ${JSON.stringify(['/bin/busybox', 'sh', '-c', ticks('back').replaceAll('$', '$$$$')])}\n    stop_grace_period: 1s\n`,
      })
      const { operation, release } = (await stage.deploy(app.id, sent)).json
      assert.is(operation.state, 'succeeded', JSON.stringify(operation))
      const built = await (await open(`/api/apps/${app.id}/operations/${operation.id}/logs`)).text()
      assert.match(built, /^worker: the same image as web$/m)
      assert.not.match(built, /worker: the build begins/)
      const logs = `/api/apps/${app.id}/logs`
      const both = (await stage.api('GET', `${logs}?tail=20`)).text.trimEnd().split('\n')
      assert.ok(
        both.some((line) => / web \| front \d+$/.test(line)) && both.some((line) => / worker \| back \d+$/.test(line)),
      )
      const instants = both.map((line) => line.slice(0, line.indexOf(' ')))
      assert.equal(instants, instants.toSorted(), 'in their order')
      const one = (await stage.api('GET', `${logs}?service=worker&tail=3`)).text.trimEnd().split('\n')
      assert.is(one.length, 3)
      assert.ok(one.every((line) => line.includes(' worker | ')))
      const later = await eventually('something to be said after that', async () => {
        const { text } = await stage.api('GET', `${logs}?since=${instants.at(-1)}`)
        return text !== '' && text.trimEnd().split('\n')
      })
      assert.ok(
        later.every((line) => line.slice(0, 30) > String(instants.at(-1))),
        later.join('\n'),
      )

      const read = async (wanted: number, headers: Record<string, string> = {}) => {
        const leave = new AbortController()
        const response = await open(`${logs}?follow=1&tail=1&service=web`, headers, leave.signal)
        let text = ''
        for await (const chunk of response.body ?? []) {
          text += Buffer.from(chunk).toString()
          if ([...text.matchAll(/front \d+\n\n/g)].length >= wanted) break
        }
        leave.abort()
        return [...text.matchAll(/^id: (\S+)\ndata: \S+ web \| front (\d+)$/gm)].map(([, id, n]) => ({
          id,
          n: Number(n),
        }))
      }
      const [first, second] = await Promise.all([read(4), read(4)])
      const again = await read(3, { 'last-event-id': String(first.at(-1)?.id) })
      const numbers = [...first, ...again].map(({ n }) => n)
      assert.equal(
        numbers,
        numbers.map((_n, place) => (numbers[0] ?? 0) + place),
      )
      assert.ok(second.length >= 4)

      const next = await stage.deploy(app.id, project('five'))
      assert.is(next.json.operation.state, 'succeeded', next.text)
      const kept = await eventually(
        'what it said last to be kept',
        async () => {
          const { text } = await stage.api('GET', `${logs}?release=${release.number}&step=run&service=worker`)
          return / worker \| back \d+/.test(text) && text
        },
        120_000,
      )
      assert.not.match(kept, ' web | ')
    },
    { timeoutMs },
  )

  t(
    'stand beside what it was asked and what it uses',
    async () => {
      const visits = 6
      const metricsOf = async () => (await stage.api('GET', `/api/apps/${app.id}/metrics`)).json.metrics
      // Two looks lie a quarter of a minute apart: the first says from where to count.
      await eventually('a second look', async () => (await metricsOf()).total.cpu_millis !== null, 120_000)
      const before = (await metricsOf()).total
      for (let n = 0; n < visits; n += 1) assert.is((await stage.visit('said')).status, 200)
      // looks of the platform at the public address go through the proxy, too: none of them is a visit
      const { total, points } = await eventually(
        'the visits to be counted, and nothing else',
        async () => {
          const metrics = await metricsOf()
          return metrics.total.requests === before.requests + visits && metrics
        },
        120_000,
      )
      assert.ok(total.p50_ms !== null && total.memory_mib > 0 && total.disk_mib !== null, JSON.stringify(total))
      assert.is(total.errors_5xx, 0)
      assert.ok(points.length >= 1)
      await sleep(USAGE_MS)
      assert.is((await metricsOf()).total.requests, total.requests, 'looks at the public address went on')
    },
    { timeoutMs },
  )

  t('are told by Events in their newest words', async () => {
    const format = '{range .items[*]}{.note}{"\\n"}{end}'
    const command = [
      'get',
      'events.v1.events.k8s.io',
      '--field-selector',
      `regarding.name=${app.id}`,
      '-o',
      `jsonpath=${format}`,
    ]
    await eventually('the Event of the newest release', async () => {
      const notes = await stage.platform.kubectl(command)
      assert.not.match(notes, /\b(startJob|keepLog|observe) is under way/)
      return /^release 5 at /m.test(notes)
    })
  })
})
