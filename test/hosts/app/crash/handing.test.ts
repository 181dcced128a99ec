import { EFFECTS, type LiveApp, openLiveApp } from '../../../support/crash/stories/livestory.ts'
import { sweep } from '../../../support/crash/sweep.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type Project, project } from '../../../support/stage/apps.ts'
import { type AppHost, copiesOf, docker, startAppHost } from '../../../support/stage/host.ts'

/** A service that keeps something is handed over, wherever the processes die: each release has run once on what it keeps. */

const SLUG = 'handed'
const SERVE =
  'echo "$VERSION" >> /data/starts; /bin/busybox mkdir -p /tmp/www; echo "$VERSION" > /tmp/www/index.html; exec /bin/busybox httpd -f -p 8080 -h /tmp/www'

const keeping = (version: string): Project => {
  const plain = project(version, { command: SERVE })
  return { ...plain, compose: `${plain.compose}    volumes: ["data:/data"]\nvolumes: { data: }\n` }
}

spec('an app whose next release is tried on a copy, and whose processes die at any call', (t) => {
  let host: AppHost
  let app: LiveApp

  t.before(async () => {
    host = await startAppHost()
    app = await openLiveApp(host, SLUG)
  })
  t.after(async () => {
    await app?.place.end()
    await host?.end()
  })

  const started = (): string[] => {
    const [id = ''] = app.place.containers()
    return docker('exec', id, '/bin/busybox', 'cat', '/data/starts').split('\n')
  }

  sweep(
    t,
    { what: 'a release is tried on a copy, and handed over once', callsMin: 10, points: 1, effects: EFFECTS },
    () =>
      app.story(keeping('first'), [
        {
          what: 'the next release',
          ask: app.deploy('the second', keeping('second'), { confirm_downtime: '1' }),
          leaves: ({ operations, told }) => ({
            release: '2',
            operations: `${operations}, deploy succeeded`,
            releases: '1 superseded, 2 live',
            told: `${told} app.released`,
          }),
          look: async ({ release }) => {
            const all = ['first', 'second'].slice(0, Number(release))
            await app.serves(all.at(-1) ?? '')()
            assert.equal(
              [started(), copiesOf(SLUG)],
              [all, []],
              'what ran on what is kept, and what is left of the trial',
            )
          },
        },
      ]),
  )
})
