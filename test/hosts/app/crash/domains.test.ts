import { query } from '../../../../hack/platform/postgres.ts'
import type { Request } from '../../../support/crash/requests.ts'
import { drawn } from '../../../support/crash/seed.ts'
import {
  type AppStand,
  EFFECTS,
  LIVE,
  type LiveApp,
  openLiveApp,
  standIn,
} from '../../../support/crash/stories/livestory.ts'
import { isLong, sweep } from '../../../support/crash/sweep.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { project } from '../../../support/stage/apps.ts'
import { type AppHost, startAppHost } from '../../../support/stage/host.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'
import { setDns, visitor } from '../../../support/stage/publishing.ts'

/**
 * Domains of its owner that an app gets, changes and loses, wherever the processes die: each plan is applied once or not at all, with
 * a certificate of a real CA for each name, and a name that it has lost leads nowhere and is free.
 */

const SLUG = 'domained'
const [FIRST, SECOND, THIRD] = ['www.first-of-crash.test', 'www.second-of-crash.test', 'www.third-of-crash.test']
const ALL = [FIRST, SECOND, THIRD]

type DomainStand = AppStand & {
  /** Its own domains as they are shown, and whether each is served. */
  domains: string
  /** Names that it holds for good. */
  names: string
}

const DOMAINS = `
select
  (select coalesce(string_agg(concat_ws(' ', d ->> 'hostname', d ->> 'state', case when (d ->> 'served')::boolean then 'served' end),
    ', '), '') from mirror m, json_array_elements(m.view -> 'domains') d
    where m.kind = 'App' and not m.archived and d ->> 'kind' = 'own') as domains,
  (select coalesce(string_agg(name, ' ' order by name), '') from site_names
    where site like 'App/%' and reserved_until is null and state <> 'quarantined') as names`

const CERTIFICATES = `
select count(*)::int as lacking from mirror m, json_array_elements(m.view -> 'domains') d
where m.kind = 'App' and not m.archived and coalesce(d -> 'certificate' ->> 'state', '') <> 'valid'`

const standOf = async (url: string): Promise<DomainStand> => ({
  ...(await standIn(url)),
  ...((await query(url, DOMAINS))[0] as Pick<DomainStand, 'domains' | 'names'>),
})

/** What applies domains leaves something behind beside what any app does. */
const OF_DOMAINS = /^sql (claim_app_names|release_app_names|ask_app_look|order_certificates|app_plan_(applied|ended))$/

spec('an app whose domains are planned, verified and applied, and whose processes die at any call', (t) => {
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

  /** What a visitor gets by that name, over TLS checked against the CA; null where nobody lets him in. */
  const seenAt = async (hostname: string): Promise<string | null> => {
    const page = await visitor(host)(hostname).catch(() => null)
    return page?.status === 200 ? page.text.trim() : null
  }
  const servedAt = (hostnames: readonly string[]) => async (): Promise<void> => {
    await app.serves('first')()
    for (const hostname of ALL) {
      const wanted = hostnames.includes(hostname) ? 'first' : null
      // the CA may still be at it
      await eventually(`${hostname} to be ${wanted}`, async () => (await seenAt(hostname)) === wanted, 60_000)
    }
    // an apply has ended once the certificates are seen
    const isSeen = async () => (await query(databaseUrl, CERTIFICATES))[0]?.lacking === 0
    await eventually('all certificates to be seen', isSeen, 90_000)
    const { apps } = JSON.parse(app.place.proxy())
    const own = (apps.http.servers.bottega.routes as Json[]).filter((one) => one['@id']?.startsWith('app-'))
    assert.equal(
      own.map((one) => one.match[0].host.slice(1)),
      [hostnames],
      'names of its one route',
    )
  }

  /** Plan, records, verify, apply; a repeat of any of it under the same key finds what the first made. */
  const applied =
    (what: string, hostnames: readonly string[]): Request<DomainStand>['ask'] =>
    async (process, asking) => {
      const route = 'PUT /api/apps/:id/domain-config'
      const planned = await app.say(route, { key: `${what} planned`, body: { step: 'plan', hostnames } })(process)
      const { plan_id, etag, hostnames: shown } = planned.body as { plan_id: string; etag: string; hostnames: Json[] }
      for (const txt of shown.flatMap(({ records }) => records.filter(({ type }: Json) => type === 'TXT')))
        await setDns(host, 'set-txt', { host: `${txt.name}.`, value: txt.value })
      await eventually('the names to be verified', async () => {
        const { body } = await app.say(route, { body: { step: 'verify', plan_id } })(process)
        return (body as { verified: boolean }).verified
      })
      const apply = { step: 'apply', plan_id }
      await app.say(route, { key: `${what} applied`, body: apply, headers: { 'if-match': etag } })(process, asking)
    }

  /** @param plans applied by then */
  const request = (what: string, hostnames: readonly string[], plans: number): Request<DomainStand> => {
    const spoken = {
      domains: hostnames.map((one) => `${one} verified served`).join(', '),
      names: hostnames.toSorted().join(' '),
    }
    return {
      what,
      ask: applied(what, hostnames),
      leaves: () => ({ ...spoken, plans: `domains ${plans}` }),
      // the spec says so, and nobody came back to note it with the plan
      halfway: () => ({ ...spoken, plans: plans === 1 ? 'domains' : `domains ${plans - 1}` }),
      look: servedAt(hostnames),
    }
  }

  const [two, replaced] = [
    [FIRST, SECOND],
    [SECOND, THIRD],
  ]
  const added = request('two domains', two, 1)
  const others = [request('one of them replaced', replaced, 2), request('none', [], 3)]
  const gone = [request('none', [], 2)]
  // a plain run replaces one, or takes both away
  const brief = drawn(SLUG) < 0.5 ? others.slice(0, 1) : gone
  const effects = new RegExp(`${EFFECTS.source}|${OF_DOMAINS.source}`)
  sweep(t, { what: 'it has the domains of one plan', callsMin: 10, points: 1, effects }, () =>
    app.storyOf<DomainStand>({
      sent: project('first'),
      begun: { ...LIVE, domains: '', names: '' },
      standIn: standOf,
      prepare: (url) => {
        databaseUrl = url
      },
      requests: [added, ...(isLong ? others : brief)],
    }),
  )
})
