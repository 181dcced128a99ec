import { spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { HostLink } from '../../../controllers/io/hosts/link.ts'
import { countVisits, READING_LIMIT_MS, readVisits, type VisitsDeps } from '../../../controllers/kinds/site/visits.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { makeSiteReservations } from '../../../controllers/store/site/sites.ts'
import { makeVisitReader, makeVisitStore } from '../../../controllers/store/site/visits.ts'
import { VISITS_AGE_MAX_MS } from '../../../controllers/workers/sweeps/visits.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase, scratchFolder } from '../../support/stage/stage.ts'

/** Reading what a proxy wrote: the script in a shell of this machine, over real files that are renamed, cut and replaced under it. */

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'
const SITE = 'site-read'
/** What rules/site.md says of how old what is shown may be. */
const AGE_MAX_MS = 30_000

/** What each reading was given. */
const deadlines: number[] = []

/** As HostLink.run, without the way to a host. */
const runHere: HostLink['run'] = ({ script, lines = [], body, deadlineMs }) =>
  new Promise((resolve, reject) => {
    deadlines.push(deadlineMs)
    const child = spawn('/bin/sh', ['-c', script.text], { env: { ...process.env, LC_ALL: 'C' } })
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({ code: code ?? 1, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    )
    child.stdin.on('error', () => {}) // it ended without reading
    child.stdin.end(Buffer.concat([Buffer.from(lines.map((line) => `${line}\n`).join('')), body as Buffer]))
  })

spec('visits as they are read on a host', (t) => {
  let database: Database
  let pg: Pg
  let deps: VisitsDeps
  let root: string
  let folders = 0
  /** Before the reading is kept. */
  let meanwhile: () => void = () => {}
  let told = 0
  const log = () => join(root, 'visits', 'log')
  const current = () => join(log(), 'visits.log')
  const line = (change: object = {}): string =>
    `${JSON.stringify({ level: 'info', ts: Date.now() / 1000, n: told++, status: 200, site: SITE, path: '/', agent: BROWSER, visitor: '00000001', ...change })}\n`
  const write = (count: number, change?: object) =>
    appendFileSync(current(), Array.from({ length: count }, () => line(change)).join(''))
  const roll = () => renameSync(current(), join(log(), `visits-2026-11-23T10-00-0${folders}.${told}.log`))
  const count = () => countVisits(deps, 'host', root)
  const visits = async () => {
    const today = new Date().toISOString().slice(0, 10)
    const days = await makeVisitReader({ pg }).days(SITE, { from: '2000-01-01', to: today })
    return days.reduce((sum, day) => sum + day.visits, 0)
  }

  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url, max: 4 })
    const epoch = await takeEpoch(pg, 'a test')
    const store = makeVisitStore({ pg, epoch: () => epoch })
    await makeSiteReservations({ pg }).takeSite(SITE, 'a', 9)
    const link = () => ({ run: runHere }) as HostLink
    deps = {
      hosts: { link, list: () => [] },
      visits: {
        ...store,
        fold: async (...fold) => {
          meanwhile()
          return store.fold(...fold)
        },
      },
      now: () => new Date(),
      log: pino({ level: 'silent' }),
    }
  })
  t.before.each(async () => {
    meanwhile = () => {}
    folders += 1
    root = join(scratchFolder('visits'), `root${folders}`)
    mkdirSync(root, { recursive: true })
    await query(database.url, 'truncate visit_places, site_days, site_day_names, site_visitors')
    await count()
  })
  t.after(async () => {
    await pg.close()
    await database.drop()
  })

  t('find a folder that all may write to and a salt that is of this day; that of another day is gone', async () => {
    assert.is(statSync(log()).mode & 0o7777, 0o1777)
    const salt = readFileSync(join(root, 'visits', 'salt'), 'utf8')
    assert.match(salt, new RegExp(`^${new Date().toISOString().slice(0, 10)} [0-9a-f]{64}\n$`))
    await count()
    assert.is(readFileSync(join(root, 'visits', 'salt'), 'utf8'), salt)
    writeFileSync(join(root, 'visits', 'salt'), `2020-01-01 ${'0'.repeat(64)}\n`)
    await count()
    assert.match(readFileSync(join(root, 'visits', 'salt'), 'utf8'), /^20[3-9]\d|^202[6-9]/)
    assert.equal(readdirSync(join(root, 'visits')).sort(), ['log', 'salt'])
  })

  t(
    'are shown within half a minute of their being written, however slow a reading is that is not given up',
    async () => {
      assert.ok(VISITS_AGE_MAX_MS <= AGE_MAX_MS, `${VISITS_AGE_MAX_MS} ms`)
      deadlines.length = 0
      await count()
      assert.equal(deadlines, [READING_LIMIT_MS])
      // one that had just passed it, and one that finds it; the turn lies between them
      assert.ok(VISITS_AGE_MAX_MS > 2 * READING_LIMIT_MS)
    },
  )

  t('count each line once, and a line that is not whole when it is', async () => {
    write(3)
    const late = line()
    appendFileSync(current(), late.slice(0, 50))
    await count()
    await count()
    assert.is(await visits(), 3)
    appendFileSync(current(), late.slice(50))
    await count()
    assert.is(await visits(), 4)
  })

  t(
    'lose nothing and count nothing twice when the file is rolled between two readings, and while it is read',
    async () => {
      write(3)
      await count()
      write(2)
      roll()
      write(4)
      await count()
      assert.is(await visits(), 9)
      write(1)
      meanwhile = () => {
        meanwhile = () => {}
        write(2)
        roll()
        write(5)
      }
      await count()
      await count()
      await count()
      assert.is(await visits(), 17)
      // a file that is over and counted is gone
      assert.equal(readdirSync(log()), ['visits.log'])
    },
  )

  t('begin anew where a host was set up anew, and go on where a file was cut short', async () => {
    write(3)
    await count()
    rmSync(join(root, 'visits'), { recursive: true })
    await count()
    write(2)
    await count()
    assert.is(await visits(), 5)
    write(6)
    await count()
    const size = statSync(current()).size
    truncateSync(current(), Math.floor(size / 2))
    await count()
    write(1, { path: `/${'x'.repeat(100)}/` })
    await count()
    // the first line after a cut may be torn
    assert.ok((await visits()) >= 11 && (await visits()) <= 12)
  })

  t('pass over what is no line: a megabyte without an end, bytes, the lines of others', async () => {
    write(1)
    appendFileSync(current(), Buffer.alloc(1_000_000, 'x'))
    await count()
    appendFileSync(current(), '\n')
    appendFileSync(current(), Buffer.from([0xff, 0x00, 0xfe, 0x0a]))
    appendFileSync(current(), `${'{"a":'.repeat(1_000)}\n`)
    write(1)
    await count()
    await count()
    assert.is(await visits(), 2)
  })

  t('go on through more than one reading takes', async () => {
    const pad = 'y'.repeat(2_000)
    write(5_000, { pad })
    assert.ok(statSync(current()).size > 8 * 1024 * 1024)
    await count()
    assert.is(await visits(), 5_000)
  })

  t('follow no link that somebody laid there', async () => {
    const elsewhere = join(root, 'elsewhere')
    writeFileSync(elsewhere, line().repeat(3))
    symlinkSync(elsewhere, join(log(), 'visits-a.log'))
    await count()
    assert.is(await visits(), 0)
    assert.ok(existsSync(elsewhere))
  })

  t('are refused when what came is cut off, and one file that is named twice counts once', () => {
    const head = 'file 1-0123456789abcdef 0 4 4\n'
    assert.throws(() => readVisits(Buffer.from('')), /cut off/)
    assert.throws(() => readVisits(Buffer.from('no time\n')), /time/)
    assert.throws(() => readVisits(Buffer.from(`now 5\n${head}abc`)), /cut off/)
    const twice = readVisits(Buffer.from(`now 5\n${head}ab\n\n${head}cd\n\n`))
    assert.equal(
      twice.files.map(({ bytes }) => bytes.toString()),
      ['ab\n\n'],
    )
  })
})
