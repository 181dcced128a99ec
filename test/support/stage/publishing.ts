import { readFileSync } from 'node:fs'
import { type RequestOptions, request } from 'node:https'
import { query } from '../../../hack/platform/postgres.ts'
import { addAccount } from './callers.ts'
import { type AppHost, HOST_NAME, startAppHost } from './host.ts'
import { asWaitedFor, call, eventually, type Json, type Platform, type Reply, startPlatform } from './invoicing.ts'

/** The platform with a real app host that takes sites, and a reviewer. */
export type SitePlatform = Platform & {
  host: AppHost
  reviewer: string
  admin: string
  /** As the owner, unless another token is given. */
  as(method: string, path: string, body?: unknown, token?: string | null): Promise<Reply>
  /** What a visitor gets, with the certificate checked. */
  visit(hostname: string, path?: string, headers?: Record<string, string>): Promise<Page>
  /** Says what the DNS answers from now on: `set-txt`, `clear-txt`, `set-cname`, `set-servfail` and the like. */
  dns(path: string, body: object): Promise<void>
}

/** `bytes` as they came, `text` where they came plain. */
export type Page = {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  bytes: Buffer
}

/** A site's words; changes lie over the content. */
export const siteContent = (change: Record<string, unknown> = {}) => ({
  meta: { company_name: 'Voss Ceramics', lang: 'en', layout: 'classic', template: 'studio' },
  hero: { title: 'Stoneware for every day', lede: 'Thrown and glazed by hand.' },
  products: [{ name: 'Bowl', price: '48 EUR' }],
  contact: { email: 'hello@voss.test' },
  ...change,
})

/** The host's CA is new at each start, so it is read for each visit. */
export const visitor =
  (host: AppHost) =>
  (hostname: string, path = '/', headers: Record<string, string> = {}): Promise<Page> =>
    new Promise((resolve, reject) => {
      const options: RequestOptions = {
        host: '127.0.0.1',
        port: host.httpsPort,
        servername: hostname,
        path,
        headers: { host: hostname, ...headers },
        ca: readFileSync(host.acme.caCert),
        agent: false,
        timeout: 10_000,
      }
      const call = request(options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response
          const bytes = Buffer.concat(chunks)
          resolve({ status, headers, text: bytes.toString('utf8'), bytes })
        })
      })
      call.on('timeout', () => call.destroy(new Error('timed out')))
      call.on('error', reject)
      call.end()
    })

const register = async (platform: Platform, admin: string, host: AppHost): Promise<void> => {
  const { spec } = host
  const wanted = {
    id: HOST_NAME,
    name: 'This machine',
    class: spec.class,
    address: spec.address,
    port: spec.port,
    user: spec.user,
    host_key: spec.hostKey,
    private_key: host.privateKey,
    base_domain: spec.baseDomain,
    takes_sites: true,
    site_root: spec.siteRoot,
    proxy: {
      admin: spec.proxy.admin,
      bind: spec.proxy.bind,
      http_port: spec.proxy.httpPort,
      https_port: spec.proxy.httpsPort,
      acme: { directory: spec.proxy.acme.directory, roots_file: spec.proxy.acme.rootsFile },
    },
  }
  const as = (method: string, path: string, body: unknown = {}) =>
    call(platform.baseUrl, admin, method, `/api/apps/hosts${path}`, body)
  const made = await as('POST', '', wanted)
  if (made.status !== 201) throw new Error(`the host was not registered: ${made.text}`)
  await eventually('the host to be approved', async () => {
    const { json } = await as('POST', `/${HOST_NAME}/inspect`)
    if (json.host?.state === 'inspected') await as('POST', `/${HOST_NAME}/approve`)
    return json.host?.state === 'approved' && json.host.stalled === null
  })
}

/** What the DNS of a host answers from now on. */
export const setDns = async (host: AppHost, path: string, body: object): Promise<void> => {
  const reply = await fetch(`${host.acme.dns.controlUrl}/${path}`, { method: 'POST', body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`the DNS answered ${reply.status} to ${path}`)
}

/** Ended by `end`, which ends the host too. */
export async function startSitePlatform(more: Record<string, string> = {}): Promise<SitePlatform> {
  // Its CA and the platform ask the same server of names.
  const host = await startAppHost()
  const platform = await startPlatform({
    env: {
      BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true',
      BOTTEGA_RATE_PER_SECOND: '1000',
      BOTTEGA_DNS_SERVERS: host.acme.dns.server,
      // what asks a live site as a visitor does, trusts the CA of the host
      NODE_EXTRA_CA_CERTS: host.acme.caCert,
      ...more,
    },
  })
  const [reviewer, admin] = [
    await addAccount(platform, 'reviewer', { role: 'reviewer' }),
    await addAccount(platform, 'admin', { role: 'admin', capabilities: ['app.deploy'] }),
  ]
  await register(platform, admin, host)
  return {
    ...platform,
    host,
    reviewer,
    admin,
    as: (method, path, body, token = platform.owner) => call(platform.baseUrl, token, method, path, body),
    visit: visitor(host),
    dns: (path, body) => setDns(host, path, body),
    end: async () => {
      await platform.end()
      await host.end()
    },
  }
}

/** A site that is rendered. */
export const makeSite = async (platform: SitePlatform, body: Record<string, unknown> = {}): Promise<Json> => {
  const asked = await platform.as('POST', '/api/website/generate', { content: siteContent(), ...body })
  const made = await asWaitedFor(asked, (path) => platform.as('GET', path))
  if (made.status !== 201) throw new Error(`generate answered ${made.status}: ${made.text}`)
  return made.json.site
}

/** Sets the TXT record that a site shows for its domain, and waits until it is seen. */
export const proveDomain = async (platform: SitePlatform, id: string, token?: string): Promise<Json> => {
  const read = async () => (await platform.as('GET', `/api/website/${id}`, undefined, token)).json.site
  const site = await read()
  const own = site.domains.find((one: Json) => one.hostname === site.domain)
  const { name, value } = own.records[0]
  await platform.dns('set-txt', { host: `${name}.`, value })
  await platform.as('PUT', `/api/website/${id}/domain`, { domain: site.domain }, token)
  return eventually(
    `${site.domain} to be proven`,
    async () => {
      const now = await read()
      return now.domains.some((one: Json) => one.hostname === site.domain && one.state === 'verified') && now
    },
    40_000,
  )
}

/** One step on a site, waited for to its end. */
const act = async (platform: SitePlatform, id: string, step: string, body: object, token?: string): Promise<Json> => {
  const asked = await platform.as('POST', `/api/website/${id}/${step}`, body, token)
  const reply = await asWaitedFor(asked, (path) => platform.as('GET', path, undefined, token))
  if (reply.status !== 200) throw new Error(`${step} answered ${reply.status}: ${reply.text}`)
  return reply.json.site
}

export const approve = async (platform: SitePlatform, id: string): Promise<Json> => {
  await act(platform, id, 'submit-review', {})
  return act(platform, id, 'decision', { decision: 'approve', note: 'fine' }, platform.reviewer)
}

/** Live; a publish that is accepted is waited for. */
export const publish = async (platform: SitePlatform, id: string): Promise<Json> => {
  const reply = await platform.as('POST', `/api/website/${id}/publish`, {})
  if (reply.status === 202) {
    return eventually(
      `${id} to be live`,
      async () => {
        const { json } = await platform.as('GET', `/api/website/${id}`)
        return json.site.live_digest === json.site.digest && json.site
      },
      60_000,
    )
  }
  if (reply.status !== 200) throw new Error(`publish answered ${reply.status}: ${reply.text}`)
  return reply.json.site
}

/** A site with a contact form. `action`: what its pages post to. */
export type FormSite = { id: string; token: string; action: string; url: string; origin: string; preview: string }

const ACTION = /<form class="write" method="post" action="([^"]+)"/

/** Rendered and not live. */
export const formSite = async (platform: Platform, content: object = {}, token = platform.owner): Promise<FormSite> => {
  const whole = siteContent({ contact: { form: true }, ...content })
  const made = await call(platform.baseUrl, token, 'POST', '/api/website/generate', { content: whole })
  if (made.status !== 201) throw new Error(`generate answered ${made.status}: ${made.text}`)
  const { id, preview_url: preview } = made.json.site
  const [, action = ''] = ACTION.exec(await (await fetch(preview)).text()) ?? []
  return { id, token, action, preview, url: '', origin: 'null' }
}

/** The same as if a host served it at `url`: the passes over it rest, and its view says that it is live. */
export const liveForm = async (
  platform: Platform,
  of: { url: string; content?: object; token?: string },
): Promise<FormSite> => {
  const site = await formSite(platform, of.content, of.token)
  await platform.kubectl(['annotate', 'wsite', site.id, 'bottega.dev/paused=true'])
  await eventually('the site to rest', async () => {
    const { status } = JSON.parse(await platform.kubectl(['get', 'wsite', site.id, '-o', 'json']))
    return status.conditions.some((one: Json) => one.type === 'Reconciling' && one.reason === 'Paused')
  })
  const text = `
    update mirror set view = (view::jsonb || jsonb_build_object(
      'live_digest', view -> 'digest', 'url', $2::text, 'status', 'live'))::json
    where kind = 'Site' and name = $1`
  await query(platform.database.url, text, [site.id, of.url])
  return { ...site, url: of.url, origin: new URL(of.url).origin }
}
