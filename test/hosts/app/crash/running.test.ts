import { EFFECTS, type LiveApp, openLiveApp } from '../../../support/crash/stories/livestory.ts'
import { sweep } from '../../../support/crash/sweep.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { busybox, type Project, SERVE } from '../../../support/stage/apps.ts'
import { type AppHost, docker, startAppHost } from '../../../support/stage/host.ts'

/**
 * What is done beside releases (more replicas and less, a command), wherever the processes die: so many run as the app says, and
 * what a command wrote stands there once.
 */

const base64 = (text: string) => Buffer.from(text).toString('base64')
const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script]

/** `web` serves and can be scaled; `store` keeps what is written to /data. */
const project = (): Project => ({
  compose: `services:
  web:
    build: .
    command: ${JSON.stringify(sh(SERVE).map((word) => word.replaceAll('$', '$$$$')))}
    environment: {VERSION: first}
    expose: ["8080"]
    stop_grace_period: 1s
  store:
    build: .
    command: ["/bin/busybox", "sleep", "100000"]
    volumes: ["data:/data"]
    stop_grace_period: 1s
volumes: {data: {}}
`,
  files: { Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'), busybox: busybox() },
})

spec('an app that is live, in which something is run, and whose processes die at any call', (t) => {
  let host: AppHost
  let app: LiveApp

  t.before(async () => {
    host = await startAppHost()
    app = await openLiveApp(host, 'swelled')
  })
  t.after(async () => {
    await app?.place.end()
    await host?.end()
  })

  const scaleTo = (replicas: number) =>
    app.say('POST /api/apps/:id/scale', { key: `to ${replicas}`, body: { replicas } })
  /** Lines in the volume: each command that ran has written one. */
  const written = (): string[] => {
    const [id] = app.place.containers().filter((one) => docker('inspect', '-f', '{{json .Mounts}}', one) !== '[]')
    return docker('exec', id ?? '', '/bin/busybox', 'sh', '-c', '/bin/busybox cat /data/ran')
      .split('\n')
      .filter(Boolean)
  }

  sweep(t, { what: 'three replicas serve, and then one does', callsMin: 12, points: 1, effects: EFFECTS }, () =>
    app.story(project(), [
      {
        what: 'three replicas',
        ask: scaleTo(3),
        leaves: ({ operations }) => ({ operations: `${operations}, scale succeeded`, replicas: '3' }),
        look: app.serves('first', 4),
      },
      {
        what: 'one replica',
        ask: scaleTo(1),
        leaves: ({ operations }) => ({ operations: `${operations}, scale succeeded`, replicas: '1' }),
        look: app.serves('first', 2),
      },
    ]),
  )

  sweep(
    t,
    { what: 'a command has run once, and nothing of it is left', callsMin: 6, points: 1, effects: EFFECTS },
    () =>
      app.story(project(), [
        {
          what: 'a command',
          ask: app.say('POST /api/apps/:id/run', {
            body: { service: 'store', command: sh('echo ran >> /data/ran; exit 3'), env: { TOKEN: 'given' } },
          }),
          leaves: () => ({ runs: 'failed 3 COMMAND_FAILED' }),
          look: async () => {
            assert.equal(written(), ['ran'])
            await app.serves('first', 2)()
          },
        },
      ]),
  )
})
