import { execFileSync } from 'node:child_process'
import { createHash, createPublicKey, verify, type webcrypto } from 'node:crypto'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { siteFolder } from '../../../crds/site/publishing/route.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'
import { approve, makeSite, publish, type SitePlatform, startSitePlatform } from '../../support/stage/publishing.ts'

/**
 * What is lost or altered on a host is put back, with the bytes that were approved, and by itself: nobody calls anything here.
 * Where that cannot be done, the site says what a person has to do.
 */

const MARK = '# of test/hosts/site/drift.test.ts'
const WITHIN_MS = 60_000
const LONG = { timeoutMs: 150_000 }

spec('a live site whose host is tampered with', (t) => {
  let platform: SitePlatform
  let id: string
  let hostname: string
  let home: string
  let good: Record<string, string>

  const object = async () => JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
  const conditionOf = async (type: string) =>
    (await object()).status.conditions.find((one: { type: string }) => one.type === type)
  const admin = (method: string, path: string) =>
    execFileSync('curl', [
      '-sS',
      '--fail',
      '-X',
      method,
      '--unix-socket',
      platform.host.admin,
      `http://localhost:2019${path}`,
    ])
  /** What the platform knows of names before it asks the DNS. */
  const nameForHere = (name: string | null) => {
    const others = readFileSync('/etc/hosts', 'utf8')
      .split('\n')
      .filter((line) => !line.endsWith(MARK))
    const lines = name === null ? others : [`127.0.0.1 ${name} ${MARK}`, ...others]
    writeFileSync('/etc/hosts', lines.join('\n'))
  }
  const inRelease = (path: string) => join(home, 'current', path)
  const seen = async () => {
    const found: Record<string, string> = {}
    for (const path of Object.keys(good)) {
      const page = await platform.visit(hostname, path).catch(() => null)
      found[path] = page === null ? 'nothing' : `${page.status} ${page.text}`
    }
    return found
  }
  const isWhole = async () => JSON.stringify(await seen()) === JSON.stringify(good)
  const putBack = async (what: string) => {
    assert.is(await isWhole(), false, `${what} is seen by visitors`)
    const startedAt = performance.now()
    await eventually(`the right bytes after ${what}`, isWhole, WITHIN_MS)
    console.log(`  ${what}: right again after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    await eventually(`Ready after ${what}`, async () => (await conditionOf('Ready'))?.status === 'True', 30_000)
  }

  t.before(async () => {
    platform = await startSitePlatform()
    ;({ id } = await makeSite(platform))
    await platform.as('PUT', `/api/website/${id}/domain`, { subdomain: 'drift' })
    await approve(platform, id)
    await publish(platform, id)
    hostname = `drift.${platform.host.baseDomain}`
    nameForHere(hostname)
    home = siteFolder(platform.host.siteRoot, id)
    const index = await platform.visit(hostname)
    const sheet = /href="(assets\/[0-9a-f]+\.css)"/.exec(index.text)?.[1]
    good = { '/': '', [`/${sheet}`]: '', '/robots.txt': '', '/sitemap.xml': '', '/nowhere': '' }
    good = await seen()
    assert.match(good['/'] ?? '', /^200 .*Stoneware/s)
  })
  t.after(async () => {
    nameForHere(null)
    await platform.end()
  })

  t(
    'says of itself what was approved, by whom and when, so that anybody can check it, and we do',
    async () => {
      const served = await platform.visit(hostname, '/.well-known/bottega-site.json')
      assert.equal([served.status, served.headers['content-type']], [200, 'application/json'])
      const { statement, jws } = JSON.parse(served.text)
      const published = await fetch(`${platform.baseUrl}/.well-known/bottega-keys.json`)
      const { keys } = (await published.json()) as { keys: (webcrypto.JsonWebKey & { kid: string })[] }
      const [header = '', payload = '', signature = ''] = jws.split('.')
      const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
      const key = createPublicKey({ key: keys.find((one) => one.kid === kid) ?? {}, format: 'jwk' })
      assert.ok(verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')))
      assert.equal(JSON.parse(Buffer.from(payload, 'base64url').toString()), statement)
      const { site } = (await platform.as('GET', `/api/website/${id}`)).json
      assert.equal(
        [statement.site, statement.hostname, statement.release, statement.digest],
        [id, hostname, 1, site.live_digest],
      )
      assert.match(statement.approved.by, /^reviewer-[0-9a-f]{16}$/)
      const index = statement.files.find((one: { path: string }) => one.path === 'index.html')
      assert.is(
        index.sha256,
        createHash('sha256')
          .update((await platform.visit(hostname)).text)
          .digest('hex'),
      )

      const { status, json } = await platform.as('GET', `/api/website/${id}/attestation`)
      assert.equal([status, json.attestation.state, json.attestation.statement.state], [200, 'same', 'valid'])
      assert.is(json.attestation.counts.same, statement.files.length)
      // anybody finds the certificate by what the site says of itself, and it certifies what is served
      const { certificate } = json.attestation
      assert.equal(certificate, {
        state: 'matches',
        url: `${statement.issuer}/certificates/${statement.site}/${statement.digest}`,
      })
      const page = await fetch(certificate.url)
      assert.equal([page.status, /Certificate of approval/.test(await page.text())], [200, true])
      const told = (await (await fetch(`${certificate.url}/certificate.json`)).json()) as Json
      assert.equal([told.certificate.files, told.certificate.approved], [statement.files, statement.approved])
      writeFileSync(inRelease('index.html'), 'another')
      const after = (await platform.as('GET', `/api/website/${id}/attestation`)).json.attestation
      const altered = after.files.filter((one: { state: string }) => one.state !== 'same')
      assert.equal(
        [after.state, altered.map(({ path, state }: { path: string; state: string }) => `${path} ${state}`)],
        ['differs', ['index.html altered']],
      )
      assert.is((await platform.as('POST', `/api/website/${id}/publish`, {})).status, 200)
      await eventually('a publish that puts it back at once', isWhole, 20_000)
    },
    LONG,
  )

  t('has one address for each page', async () => {
    const index = await platform.visit(hostname, '/index.html')
    assert.equal([index.status, index.headers.location], [308, `https://${hostname}/`])
    assert.is((await platform.visit(hostname, '/404.html')).status, 404)
    assert.match(String((await platform.visit(hostname)).headers['strict-transport-security']), /^max-age=\d{8}$/)
  })

  t(
    'a file that is lost is put back',
    async () => {
      rmSync(inRelease('robots.txt'))
      await putBack('a lost file')
    },
    LONG,
  )

  t(
    'a file that is altered in its place, at its size and with its time put back, is put back, and the release before is whole',
    async () => {
      const path = inRelease('index.html')
      const { atime, mtime } = statSync(path)
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, text.replace('Stoneware', 'Stonewary'))
      utimesSync(path, atime, mtime)
      await putBack('an altered page')
      const [sheet = ''] = Object.keys(good).filter((one) => one.endsWith('.css'))
      const kept = join(home, 'kept', sheet)
      const css = readFileSync(kept, 'utf8')
      writeFileSync(kept, css.replaceAll('0', '1'))
      await putBack('an altered asset')
    },
    LONG,
  )

  t(
    'what nobody approved is served no longer',
    async () => {
      const path = join(home, 'current', 'phish.html')
      writeFileSync(path, 'give me your password')
      assert.is((await platform.visit(hostname, '/phish.html')).status, 200)
      await eventually('its end', async () => (await platform.visit(hostname, '/phish.html')).status === 404, WITHIN_MS)
    },
    LONG,
  )

  t(
    'a release that is another folder, and a link that leads elsewhere, are put back',
    async () => {
      const release = join(home, readlinkSync(join(home, 'current')))
      const away = join(home, 'releases', 'away')
      renameSync(release, away)
      execFileSync('cp', ['-a', away, release])
      writeFileSync(join(release, 'index.html'), 'another site')
      await putBack('a swapped release')
      const other = join(home, 'releases', 'other')
      mkdirSync(other)
      writeFileSync(join(other, 'index.html'), 'another site')
      execFileSync('chown', ['-R', platform.host.user, other])
      rmSync(join(home, 'current'))
      symlinkSync('releases/other', join(home, 'current'))
      await putBack('a link that leads elsewhere')
      assert.equal(
        readdirSync(join(home, 'releases')).filter((one) => one.includes('other') || one.includes('away')),
        [],
      )
    },
    LONG,
  )

  t(
    'a route that is gone is put back',
    async () => {
      admin('DELETE', `/id/site-${id}`)
      await putBack('a lost route')
    },
    LONG,
  )

  t('each of it is told: an Event, and a counter', async () => {
    const events = await platform.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])
    const drifts = JSON.parse(events).items.filter(
      (one: { reason: string; regarding: { name: string } }) => one.reason === 'Drift' && one.regarding.name === id,
    )
    assert.ok(drifts.length > 0, 'an Event')
    const page = await (await fetch(platform.metricsUrls.controllers)).text()
    const count = /^bottega_host_drift_total\{kind="Site",host="local"\} (\d+)$/m.exec(page)?.[1]
    assert.ok(Number(count) >= 5, `${count} of at least five`)
    const [told] = drifts
    assert.match(told.note, /put back what was changed on host local: /)
  })
})
