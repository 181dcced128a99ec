import { freshName } from '../../../../crds/kernel/fields.ts'
import { keyOf } from '../../../support/crash/ask.ts'
import { drawn } from '../../../support/crash/seed.ts'
import {
  type DeleteStand,
  deletedAmid,
  deleteStandIn,
  LIVING,
  type Neighbour,
  neighbourOf,
} from '../../../support/crash/stories/deletestory.ts'
import { EFFECTS, type LiveApp, openLiveApp } from '../../../support/crash/stories/livestory.ts'
import { cuts, isLong, sweep } from '../../../support/crash/sweep.ts'
import { spec } from '../../../support/runner/spec.ts'
import { busybox, type Project } from '../../../support/stage/apps.ts'
import { type AppHost, startAppHost } from '../../../support/stage/host.ts'

/** An app that is deleted in the midst of what is done for it, wherever the processes die: it is gone whole, and its neighbour stands. */

const SLUG = 'removed'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script]

/** `web` takes a while to come up; `store` keeps what takes a while to be packed. */
const project = (version: string): Project => ({
  compose: `services:
  web:
    build: .
    command: ["/bin/busybox", "sh", "-c", "/bin/busybox sleep 1; /bin/busybox mkdir -p /tmp/www; echo ${version} > /tmp/www/index.html; exec /bin/busybox httpd -f -p 8080 -h /tmp/www"]
    expose: ["8080"]
    stop_grace_period: 1s
  store:
    build: .
    command: ["/bin/busybox", "sh", "-c", "[ -e /data/said ] || { /bin/busybox dd if=/dev/urandom of=/data/large bs=1M count=8; echo first > /data/said; }; while :; do /bin/busybox sleep 1; done"]
    volumes: ["data:/data"]
    stop_grace_period: 1s
volumes: {data: {}}
`,
  files: { Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'), busybox: busybox() },
})

const BACKUP = 'the backup'
const backup = freshName('bak', Buffer.from(keyOf(BACKUP), 'hex'))
const OF_DELETION =
  /^sql (forget_app|end_app_backup|drop_app_\w+|remove_app_route|remove_host_route|release_app_names)$/

spec('an app that is deleted while something is done for it, and whose processes die at any call', (t) => {
  let host: AppHost
  let app: LiveApp
  let neighbour: Neighbour
  let databaseUrl = ''

  t.before(async () => {
    host = await startAppHost()
    app = await openLiveApp(host, SLUG)
    neighbour = neighbourOf(host, SLUG)
  })
  t.after(async () => {
    neighbour?.remove()
    await app?.place.end()
    await host?.end()
  })

  const kinds = {
    'a deploy': {
      begin: () => app.deploy('the second', project('second'), { confirm_downtime: '1' }),
      running: "select 1 from app_operations where kind = 'deploy' and n > 1 and state <> 'queued'",
      halfway: 'deploy succeeded',
    },
    'a scale': {
      begin: () => app.say('POST /api/apps/:id/scale', { body: { replicas: 3 } }),
      running: "select 1 from app_operations where kind = 'scale' and state <> 'queued'",
      halfway: 'scale succeeded',
    },
    'a command': {
      begin: () =>
        app.say('POST /api/apps/:id/run', { body: { service: 'store', command: sh('/bin/busybox sleep 20') } }),
      running: "select 1 from app_runs where state <> 'queued'",
      halfway: 'run succeeded',
    },
    'a backup': {
      begin: () =>
        app.say('POST /api/apps/:id/volumes/:name/backups', { key: BACKUP, params: { name: 'data' }, body: {} }),
      running: "select 1 from app_backups where state <> 'queued'",
      halfway: 'backup succeeded',
    },
    'a restore': {
      begin: () =>
        app.say('POST /api/apps/:id/backups/:backup/restore', {
          params: { backup },
          query: { confirm: 'data', confirm_downtime: '1' },
        }),
      running: "select 1 from app_backups where restores is not null and state <> 'queued'",
      halfway: 'restore succeeded',
    },
  }
  type Kind = keyof typeof kinds

  const story = (kind: Kind, more: { cutAt?: number } = {}) => {
    const { begin, ...rest } = kinds[kind]
    const deleting = { app, host, slug: SLUG, neighbour, url: () => databaseUrl }
    const amid = deletedAmid(deleting, {
      ...{ what: kind, ...rest },
      begin: (process, asking) => begin()(process, asking),
    })
    const first = {
      what: 'a backup to put back',
      ask: app.say('POST /api/apps/:id/volumes/:name/backups', { key: BACKUP, params: { name: 'data' }, body: {} }),
      leaves: ({ done }: DeleteStand) => ({ done: `${done}, backup succeeded` }),
    }
    return app.storyOf<DeleteStand>({
      sent: project('first'),
      ...{ begun: LIVING, ...more },
      standIn: deleteStandIn,
      prepare: (url) => {
        databaseUrl = url
        neighbour.make()
      },
      requests: [...(kind === 'a restore' ? [first] : []), amid],
    })
  }

  const effects = new RegExp(`${EFFECTS.source}|${OF_DELETION.source}`)
  const all = Object.keys(kinds) as Kind[]
  // a plain run takes one of them, by its seed
  const chosen = isLong ? all : all.slice(Math.floor(drawn(SLUG) * all.length)).slice(0, 1)
  for (const kind of chosen)
    sweep(t, { what: `amid ${kind} it is gone whole`, callsMin: 6, points: 1, effects }, () => story(kind))
  const cutIn = all[Math.floor(drawn(SLUG, 'cut') * all.length)] as Kind
  cuts(t, `amid ${cutIn} it is gone whole`, (cutAt) => story(cutIn, { cutAt }))
})
