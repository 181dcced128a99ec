import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOCAL_BUILDER } from '../../../../hack/stage/builds/builder.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import {
  type AppCaller,
  type AppStage,
  busybox,
  type Project,
  settled,
  startAppStage,
} from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'

/** A release holds what was uploaded for it: its bytes are asked back from the container that runs. */

const timeoutMs = 240_000
const base64 = (text: string) => Buffer.from(text).toString('base64')

type Files = { page: string; note: string; copied: 'one' | 'two' }
type Build = { noCache?: boolean }

/** Serves a file, a file of a sub-folder, and what the Dockerfile says. All that differs between two of them has one size. */
const served = ({ page, note, copied }: Files, { noCache = false }: Build = {}): Project => ({
  compose: `services:
  web:
    build: { context: ., no_cache: ${noCache} }
    command: ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/www"]
    expose: ["8080"]
    stop_grace_period: 1s
`,
  files: {
    Dockerfile: base64(
      `FROM scratch\nCOPY busybox /bin/busybox\nCOPY page.html /www/index.html\nCOPY notes /www/notes\nCOPY ${copied}.txt /www/copied.txt\n`,
    ),
    'page.html': base64(page),
    'notes/deep/note.txt': base64(note),
    'one.txt': base64('it is one'),
    'two.txt': base64('it is two'),
    busybox: busybox(),
  },
})

const FIRST: Files = { page: 'page-AAAA', note: 'note-AAAA', copied: 'one' }

spec('a release', (t) => {
  let stage: AppStage
  let app: Json
  const running = (slug: string): number =>
    docker('ps', '-aq', '--filter', `label=dev.bottega.app=${slug}`).split('\n').filter(Boolean).length
  /** The release before the live one has left, and with it the images that were its own. */
  const alone = (slug: string, services = 1) =>
    eventually('the release before to leave', async () => running(slug) <= services)
  /** Deploys, and asks the container for what it holds. */
  const holds = async (
    caller: AppCaller,
    { id, slug }: Json,
    files: Files,
    build: Build = {},
  ): Promise<Partial<Files>> => {
    await alone(slug)
    const { json, text } = await caller.deploy(id, served(files, build))
    assert.is(json.operation?.state, 'succeeded', text)
    const [page, note, copied] = await Promise.all(
      ['/', '/notes/deep/note.txt', '/copied.txt'].map((path) => stage.visit(slug, path)),
    )
    return {
      page: page?.text ?? '',
      note: note?.text ?? '',
      copied: copied?.text.replace('it is ', '') as Files['copied'],
    }
  }
  const layersOf = ({ id }: { id: string }): string => docker('image', 'inspect', '-f', '{{json .RootFS.Layers}}', id)
  const imagesOf = async ({ id }: Json): Promise<{ id: string }[]> =>
    (await stage.api('GET', `/api/apps/${id}`)).json.app.release.images

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('pages', { application_policy: 'none', watch_seconds: 0 })
  })
  t.after(() => stage.end())

  for (const noCache of [false, true]) {
    const how = noCache ? 'built anew' : 'built from what is cached'
    const letter = noCache ? 'N' : 'C'
    const next = (part: Partial<Files>): Files => ({ ...FIRST, page: `page-${letter}AAA`, ...part })

    t(
      `holds a file that was changed to another of the same size, ${how}`,
      async () => {
        assert.equal(await holds(stage, app, next({}), { noCache }), next({}))
        const changed = next({ page: `page-${letter}BBB` })
        assert.equal(await holds(stage, app, changed, { noCache }), changed)
      },
      { timeoutMs },
    )

    t(
      `holds what a changed Dockerfile of the same size says, ${how}`,
      async () => {
        const changed = next({ page: `page-${letter}BBB`, copied: 'two' })
        assert.equal(await holds(stage, app, changed, { noCache }), changed)
      },
      { timeoutMs },
    )

    t(
      `holds a changed file of the same size in a sub-folder, ${how}`,
      async () => {
        const changed = next({ note: `note-${letter}BBB` })
        assert.equal(await holds(stage, app, changed, { noCache }), changed)
      },
      { timeoutMs },
    )

    t(
      `holds its own files, and not those of an app that was built before it, ${how}`,
      async () => {
        const files = { page: `page-${letter}CCC`, note: `note-${letter}CCC`, copied: 'two' } as const
        const second = await stage.app(`pages-${letter.toLowerCase()}`, {
          application_policy: 'none',
          watch_seconds: 0,
        })
        assert.equal(await holds(stage, second, files, { noCache }), files)
      },
      { timeoutMs },
    )

    t(
      `holds its own files, and not those of another account, ${how}`,
      async () => {
        const files = { page: `page-${letter}DDD`, note: `note-${letter}DDD`, copied: 'one' } as const
        const other = await stage.as('other')
        const theirs = await other.app(`theirs-${letter.toLowerCase()}`, {
          application_policy: 'none',
          watch_seconds: 0,
        })
        assert.equal(await holds(other, theirs, files, { noCache }), files)
      },
      { timeoutMs },
    )
  }

  t(
    'is built from what its app has built before, as far as nothing has changed',
    async () => {
      const files = { ...FIRST, page: 'page-same' }
      assert.equal(await holds(stage, app, files), files)
      const layers = async (): Promise<string[]> => {
        const [image] = await imagesOf(app)
        return JSON.parse(layersOf(image ?? { id: '' }))
      }
      const before = await layers()
      const changed = { ...files, copied: 'two' } as const
      assert.equal(await holds(stage, app, changed), changed)
      const after = await layers()
      // The program, the page, the notes; what is copied last is another file.
      assert.equal(after.slice(0, 3), before.slice(0, 3))
      assert.is.not(after[3], before[3])
    },
    { timeoutMs },
  )

  t(
    'holds the files of each service, where folders that are built have one name',
    async () => {
      const twins = await stage.app('twins', { application_policy: 'none', watch_seconds: 0 })
      const send = (web: string, side: string): Project => {
        const built = (folder: string, text: string): Record<string, string> => ({
          [`${folder}/app/Dockerfile`]: base64(
            'FROM scratch\nCOPY busybox /bin/busybox\nCOPY page.html /www/index.html\n',
          ),
          [`${folder}/app/page.html`]: base64(text),
          [`${folder}/app/busybox`]: busybox(),
        })
        const service = (folder: string) =>
          `{ build: ./${folder}/app, command: [/bin/busybox, httpd, -f, -p, "8080", -h, /www], stop_grace_period: 1s }`
        const compose = `services:\n  web: ${service('web').replace(' }', ', expose: ["8080"] }')}\n  side: ${service('side')}\n`
        return { compose: `${compose}x-bottega: {}\n`, files: { ...built('web', web), ...built('side', side) } }
      }
      const pages = () =>
        ['web', 'side'].map((service) => {
          const [id = ''] = docker('ps', '-q', '--filter', `name=^twins-r\\d+-${service}-`).split('\n')
          return docker('exec', id, '/bin/busybox', 'cat', '/www/index.html')
        })
      for (const wanted of [
        ['web-one', 'sid-one'],
        ['web-two', 'sid-two'],
        ['sid-one', 'web-one'],
      ] as const) {
        const { json, text } = await stage.deploy(twins.id, send(wanted[0], wanted[1]))
        assert.is(json.operation?.state, 'succeeded', text)
        await alone('twins', 2)
        assert.equal(pages(), [...wanted])
      }
    },
    { timeoutMs },
  )

  t(
    'holds its own files where an earlier app of that name has left others on the host',
    async () => {
      const left = join(stage.host.folder, 'home', '.bottega', 'apps', 'leavings', 'r1', 'source')
      mkdirSync(left, { recursive: true })
      const { files } = served({ page: 'page-left', note: 'note-left', copied: 'one' })
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(join(left, path, '..'), { recursive: true })
        writeFileSync(join(left, path), Buffer.from(content, 'base64'), { mode: path === 'busybox' ? 0o755 : 0o644 })
      }
      const { name } = stage.host.account
      execFileSync('chown', ['-R', name, join(stage.host.folder, 'home', '.bottega')])
      const leavings = await stage.app('leavings', { application_policy: 'none', watch_seconds: 0 })
      const files1 = { ...FIRST, page: 'page-mine' }
      assert.equal(await holds(stage, leavings, files1), files1)
    },
    { timeoutMs },
  )

  t(
    'bears younger files than the one before, so that no browser keeps an old one for new',
    async () => {
      const young = await stage.app('young', { application_policy: 'none', watch_seconds: 0 })
      const ask = async (page: string) => {
        const files = { ...FIRST, page }
        assert.equal(await holds(stage, young, files), files)
        return Date.parse(String((await stage.visit('young')).headers['last-modified']))
      }
      const first = await ask('page-old1')
      const second = await ask('page-new1')
      assert.ok(second > first, `${second} is not after ${first}`)
      const headers = { 'if-modified-since': new Date(first).toUTCString() }
      assert.is((await stage.visit('young', '/', { headers })).status, 200)
    },
    { timeoutMs },
  )

  t(
    'leaves no copy of its files with the builder once it has gone',
    async () => {
      const bytes = 3_000_000 + Math.floor(Math.random() * 1_000_000)
      const sent = served(FIRST)
      sent.files['notes/large'] = Buffer.alloc(bytes, 'x').toString('base64')
      const large = await stage.app('large', { application_policy: 'none', watch_seconds: 0 })
      assert.is((await stage.deploy(large.id, sent)).json.operation?.state, 'succeeded')
      const volumes = () =>
        docker('volume', 'ls', '-q', '--filter', 'label=dev.bottega.builder').split('\n').filter(Boolean)
      const copiesIn = (volume: string): string[] =>
        docker(
          ...['run', '--rm', '-v', `${volume}:/c:ro`, '--entrypoint', '/bin/busybox', LOCAL_BUILDER],
          ...['find', '/c', '-type', 'f', '-size', `${bytes}c`],
        ).split('\n')
      const [own = '', ...others] = volumes().filter((volume) => copiesIn(volume).join('') !== '')
      assert.equal(others, [])
      assert.is(copiesIn(own).length, 1, 'the layer, and no copy of what was sent')
      // while Docker was asked nobody saw which connections had been closed
      await sleep(100)
      assert.is((await settled(stage, await stage.api('DELETE', `/api/apps/${large.id}`))).status, 204)
      await eventually('its builder to leave', async () => !volumes().includes(own))
    },
    { timeoutMs },
  )
})
