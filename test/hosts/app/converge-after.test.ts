import { GONE, type LiveApp, openLiveApp } from '../../support/crash/stories/livestory.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { spec } from '../../support/runner/spec.ts'
import { project, SERVE } from '../../support/stage/apps.ts'
import { type AppHost, startAppHost } from '../../support/stage/host.ts'

/**
 * What becomes of an app that is live (another deploy, a rollback, another env, another access, a deploy that is called off,
 * its end), wherever the processes die, and whether or not its owner comes back: what visitors get is what is on record.
 */

const SLOW = `/bin/busybox sleep 5; ${SERVE}`

spec('an app that is live, whose processes die at any call', (t) => {
  let host: AppHost
  let app: LiveApp
  const story = (requests: Parameters<LiveApp['story']>[1]) => app.story(project('first'), requests)

  t.before(async () => {
    host = await startAppHost()
    app = await openLiveApp(host, 'changed')
  })
  t.after(async () => {
    await app?.place.end()
    await host?.end()
  })

  sweep(t, { what: 'its second release is live once, and its first one again', callsMin: 60, points: 1 }, () =>
    story([
      {
        what: 'another deploy',
        ask: app.deploy('the second', project('second')),
        leaves: ({ operations, told }) => ({
          release: '2',
          operations: `${operations}, deploy succeeded`,
          releases: '1 superseded, 2 live',
          told: `${told} app.released`,
        }),
        look: app.serves('second'),
      },
      {
        what: 'the rollback',
        ask: app.say('POST /api/apps/:id/rollback', { body: { release: 1 } }),
        leaves: ({ operations, told }) => ({
          release: '3',
          operations: `${operations}, rollback succeeded`,
          releases: '1 superseded, 2 superseded, 3 live',
          told: `${told} app.released`,
        }),
        look: app.serves('first'),
      },
    ]),
  )

  sweep(t, { what: 'it has its new env once, is private once, and gone once', callsMin: 60, points: 1 }, () =>
    story([
      {
        what: 'another env',
        ask: app.say('PATCH /api/apps/:id/env', { body: { env: { GREETING: 'hello' } } }),
        leaves: ({ operations, told }) => ({
          release: '2',
          env: '1 1',
          operations: `${operations}, env succeeded`,
          releases: '1 superseded, 2 live',
          told: `${told} app.released`,
        }),
        // stored, as by a PUT: its next release has it
        halfway: () => ({ env: '1' }),
        look: app.serves('first hello'),
      },
      {
        what: 'another access',
        ask: app.say('PATCH /api/apps/:id', { body: { access: 'private', password: 'correct horse' } }),
        leaves: () => ({ access: 'private' }),
        look: app.serves('502'),
      },
      {
        what: 'its end',
        ask: app.say('DELETE /api/apps/:id'),
        leaves: () => GONE,
        repeated: 'NOT_FOUND',
        look: app.serves('nothing', 0),
      },
    ]),
  )

  sweep(t, { what: 'a deploy that is called off leaves what is live, or was sooner', callsMin: 20, points: 1 }, () =>
    story([
      {
        what: 'a deploy that is called off',
        async ask(process) {
          const async = { headers: { prefer: 'respond-async' } }
          const { body } = await app.deploy('the slow', project('slow', { command: SLOW }))(process, async)
          const { operation_id: operationId } = body as { operation_id: string }
          await app.say('POST /api/apps/operations/:operationId/cancel', { params: { operationId } })(process)
        },
        leaves: ({ operations }) => ({ operations: `${operations}, deploy cancelled` }),
        tooLate: ({ operations, told }) => ({
          release: '2',
          operations: `${operations}, deploy succeeded`,
          releases: '1 superseded, 2 live',
          told: `${told} app.released`,
        }),
        repeated: 'TOO_LATE',
        look: ({ release }) => app.serves(release === '1' ? 'first' : 'slow')(),
      },
    ]),
  )
})
