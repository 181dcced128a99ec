import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freshName } from '../../../../crds/kernel/fields.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { keyOf } from '../../../support/crash/ask.ts'
import { EFFECTS, type LiveApp, openLiveApp } from '../../../support/crash/stories/livestory.ts'
import { sweep } from '../../../support/crash/sweep.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { busybox, type Project } from '../../../support/stage/apps.ts'
import { type AppHost, copiesOf, startAppHost } from '../../../support/stage/host.ts'

/** What a volume holds is kept, changed and put back, wherever the processes die: what is told to be kept is in the store, byte for byte. */

const SLUG = 'kept'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script]

const project = (): Project => ({
  compose: `services:
  store:
    build: .
    command: ["/bin/busybox", "sh", "-c", "[ -e /data/index.html ] || echo first > /data/index.html; exec /bin/busybox httpd -f -p 9000 -h /data"]
    volumes: ["data:/data"]
    expose: ["9000"]
    stop_grace_period: 1s
volumes: {data: {}}
`,
  files: { Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'), busybox: busybox() },
})

const BACKUP = 'the backup'
const backup = freshName('bak', Buffer.from(keyOf(BACKUP), 'hex'))

/** What is told of a backup, held against what is in the store. */
const assertKept = async (url: string): Promise<void> => {
  const backups = await query(url, "select id, packed from app_backups where state = 'succeeded'")
  for (const { id, packed } of backups) {
    const chunks = await query(
      url,
      'select c.content from app_backup_parts p join blob_chunks c using (sha256) where p.backup = $1 order by p.n, c.n',
      [id],
    )
    const bytes = Buffer.concat(chunks.map(({ content }) => content as Buffer))
    const { bytes: told, sha256 } = packed as { bytes: number; sha256: string }
    assert.equal([bytes.length, createHash('sha256').update(bytes).digest('hex')], [told, sha256], String(id))
  }
}

spec('an app that keeps something, whose processes die at any call', (t) => {
  let host: AppHost
  let app: LiveApp
  let databaseUrl = ''

  t.before(async () => {
    host = await startAppHost()
    app = await openLiveApp(host, SLUG)
  })
  t.after(async () => {
    await app?.place.end()
    await host?.end()
  })

  const holds = (text: string) => async () => {
    await app.serves(text)()
    await assertKept(databaseUrl)
    assert.equal(copiesOf(SLUG), [], 'copies')
    assert.not(existsSync(join(host.folder, 'home', '.bottega', 'apps', SLUG, 'backups')), 'files of backups')
  }

  sweep(t, { what: 'it is kept once, and put back once', callsMin: 30, points: 1, effects: EFFECTS }, () =>
    app.story(
      project(),
      [
        {
          what: 'the backup',
          ask: app.say('POST /api/apps/:id/volumes/:name/backups', { key: BACKUP, params: { name: 'data' }, body: {} }),
          leaves: ({ told }) => ({ backups: 'backup succeeded', told: `${told} app.backup_succeeded` }),
          look: holds('first'),
        },
        {
          what: 'a change',
          ask: app.say('POST /api/apps/:id/run', {
            body: { service: 'store', command: sh('echo second >> /data/index.html') },
          }),
          leaves: () => ({ runs: 'succeeded 0' }),
          look: holds('first\nsecond'),
        },
        {
          what: 'the restore',
          ask: app.say('POST /api/apps/:id/backups/:backup/restore', {
            params: { backup },
            query: { confirm: 'data', confirm_downtime: '1' },
          }),
          leaves: ({ backups, told }) => ({
            backups: `${backups}, restore succeeded`,
            told: `${told} app.restored`,
          }),
          look: holds('first'),
        },
      ],
      (url) => {
        databaseUrl = url
      },
    ),
  )
})
