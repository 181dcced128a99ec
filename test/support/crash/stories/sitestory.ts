import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, ApiRequest } from '../../../../api/http/route.ts'
import { deleteSite, updateSite } from '../../../../api/site/change.ts'
import { generateSite } from '../../../../api/site/generate.ts'
import { putDomain } from '../../../../api/site/names/domain.ts'
import { publishSite, unpublishSite } from '../../../../api/site/publish.ts'
import { decideSite, submitReview } from '../../../../api/site/reviewing/review.ts'
import { makeCredentials } from '../../../../controllers/store/host/hosts.ts'
import { makePg } from '../../../../controllers/store/pg/pg.ts'
import { HOST } from '../../../../crds/host/kind.ts'
import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { SITE } from '../../../../crds/site/kind.ts'
import type { SiteView } from '../../../../crds/site/view.ts'
import { type AppHost, HOST_NAME } from '../../stage/host.ts'
import { kubectlFor, type Namespace } from '../../stage/stage.ts'
import { keys, type OneProcess } from '../process.ts'

/** What a partner and a reviewer do with one site, by the handlers of both processes in one (process.ts). */

export const BASE_CONTENT = {
  meta: { company_name: 'Voss', lang: 'en', layout: 'classic', template: 'studio' },
  hero: { title: 'First' },
}

const requestOf = (more: object): ApiRequest =>
  ({
    caller: {
      account: 'demo',
      by: { kind: 'token', id: 'one' },
      profile: { plan: 'team', role: 'member', capabilities: [] },
    },
    headers: {},
    query: {},
    requestId: 'one',
    // of an operation, which a busy machine may come to
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/website',
    body: {},
    ...more,
  }) as unknown as ApiRequest

const reviewer = { account: 'reviewer', by: { kind: 'token', id: 'two' }, profile: { role: 'reviewer' } }

export const siteOf = ({ body }: Answer): SiteView => (body as { site: SiteView }).site

export type Hands = {
  view(id: string): Promise<SiteView | undefined>
  /** Until all of it is rendered. @param body in place of the plain one */
  generate(idempotencyKey: string, body?: object): Promise<SiteView>
  choose(id: string, subdomain: string): Promise<Answer>
  retitle(id: string, title: string): Promise<Answer>
  approve(id: string): Promise<void>
  /** Until it is live. */
  publish(id: string, withinMs?: number): Promise<SiteView>
  unpublish(id: string): Promise<Answer>
  remove(id: string): Promise<Answer>
}

const POLL_MS = 50

const until = async <T>(what: string, look: () => Promise<T | false>, withinMs = 60_000): Promise<T> => {
  const endMs = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== false) return found
    if (performance.now() > endMs) throw new Error(`waited ${withinMs} ms for ${what}`)
    await sleep(POLL_MS)
  }
}

export const handsOf = ({ api, mirror }: Pick<OneProcess, 'api' | 'mirror'>): Hands => {
  const view = async (id: string) => (await mirror.get(SITE, id))?.view
  const about = (id: string, more: object = {}) => requestOf({ params: { id }, ...more })
  const rendered = async (id: string) => {
    await until('the site to be rendered', async () => ((await view(id))?.digest ?? null) !== null)
  }
  return {
    view,
    async generate(idempotencyKey, body = { content: BASE_CONTENT }) {
      const { id } = siteOf(await generateSite(api, requestOf({ idempotencyKey, body })))
      await rendered(id)
      return (await view(id)) as SiteView
    },
    choose: (id, subdomain) => putDomain(api, about(id, { body: { subdomain } })),
    unpublish: (id) => unpublishSite(api, about(id)),
    remove: (id) => deleteSite(api, about(id)),
    retitle: (id, title) => updateSite(api, about(id, { body: { content: { hero: { title } } } })),
    async approve(id) {
      await submitReview(api, about(id))
      await until('the submission', async () => (await view(id))?.review_state !== 'draft')
      if ((await view(id))?.review_state === 'approved') return
      await decideSite(api, about(id, { caller: reviewer, body: { decision: 'approve', note: '' } }))
      await until('the approval', async () => (await view(id))?.review_state === 'approved')
    },
    async publish(id, withinMs = 60_000) {
      await publishSite(api, about(id))
      let now: SiteView | undefined
      const live = async () => {
        now = await view(id)
        return now !== undefined && now.live_digest === now.digest && now
      }
      return until('the site to be live', live, withinMs).catch((error: Error) => {
        const { status, host, domain, review_state: review, stalled, fact_seq: facts } = now ?? {}
        throw new Error(`${error.message}; it is ${JSON.stringify({ status, host, domain, review, stalled, facts })}`)
      })
    },
  }
}

/** The accounts and the Host in a namespace; the host's key goes into each database. */
export const applySiteCast = async (namespace: Namespace, host: AppHost): Promise<void> => {
  const kubectl = kubectlFor(namespace.kubeconfig)
  const apiVersion = 'bottega.dev/v1alpha1'
  const metadata = (name: string) => ({ name, namespace: namespace.name })
  const spec = { email: 'owner@demo.test', name: 'Demo', plan: 'team' }
  await kubectl(['apply', '-f', '-'], { apiVersion, kind: 'Account', metadata: metadata('demo'), spec })
  const hostSpec = withDefaults<object>(HOST.spec, host.spec)
  await kubectl(['apply', '-f', '-'], { apiVersion, kind: 'Host', metadata: metadata(HOST_NAME), spec: hostSpec })
}

/** A new database knows the host's key, and the host knows nothing of those before. */
export const freshHost = async (databaseUrl: string, host: AppHost): Promise<void> => {
  const pg = makePg({ url: databaseUrl, max: 1 })
  await makeCredentials({ pg, keys }).put(HOST_NAME, host.spec.credentialVersion, host.privateKey)
  await pg.close()
  await host.forget()
}
