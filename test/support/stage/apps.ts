import { readFileSync } from 'node:fs'
import { type Agent, request } from 'node:https'
import { makeCredentials } from '../../../controllers/store/host/hosts.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { ensurePackages } from '../../../hack/lib/apt.ts'
import { noteCookies } from '../canaries/answers.ts'
import { type AppHost, startAppHost, type WhoseDocker } from './host.ts'
import { asWaitedFor, call, eventually, type Json, type Platform, type Reply, startPlatform } from './invoicing.ts'
import { setDns } from './publishing.ts'

/**
 * The whole platform with a real app host, registered and approved as Host `local`, and an owner who may deploy. Images are
 * built on the host from nothing but a static busybox, because no registry is in reach.
 */
export type AppStage = AppCaller & {
  platform: Platform
  host: AppHost
  /** Another account, which may deploy from now on. */
  as(account: string): Promise<AppCaller>
  /** A visitor, over TLS, checked against the test CA. @param slug or a whole hostname */
  visit(slug: string, path?: string, options?: Visit): Promise<Page>
  /** Says what the DNS answers from now on, as `set-txt`. */
  dns(path: string, body: object): Promise<void>
  end(): Promise<void>
}

/** What one account does. The stage's own is the owner's. */
export type AppCaller = {
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** A new app that is ready for its first deploy. */
  app(slug: string, more?: object): Promise<Json>
  /** Starts an operation. Where it was answered with 202, `json` has what it came to in the end. */
  operate(method: string, path: string, body?: unknown): Promise<Reply>
  /** @param query as `?confirm_downtime=1`, for what stops a service that keeps something */
  deploy(id: string, project: Project, query?: string): Promise<Reply>
}

export type Project = { compose: string; files: Record<string, string> }
export type Visit = { method?: string; headers?: Record<string, string>; body?: string; agent?: Agent }
export type Page = { status: number; headers: Record<string, string | string[] | undefined>; text: string }

const OPERATION_MS = 240_000
const BUSYBOX = '/bin/busybox'
const base64 = (content: string | Buffer): string => Buffer.from(content).toString('base64')

export const busybox = (): string => {
  ensurePackages([{ name: 'busybox-static', files: [BUSYBOX] }], { what: 'The images of the tests' })
  return base64(readFileSync(BUSYBOX))
}

/** Serves `<version> <GREETING>` on port 8080. */
export const SERVE =
  '/bin/busybox mkdir -p /tmp/www && echo "$VERSION $GREETING" > /tmp/www/index.html && exec /bin/busybox httpd -f -p 8080 -h /tmp/www'
const DOCKERFILE = 'FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'

export type Service = { command?: string; more?: string }

/** A project of one service, `web`. @param more further lines of the service, indented by four */
export const project = (version: string, { command = SERVE, more = '' }: Service = {}): Project => ({
  compose: `services:
  web:
    build: .
    command: ${JSON.stringify(['/bin/busybox', 'sh', '-c', command.replaceAll('$', '$$$$')])}
    environment:
      VERSION: ${JSON.stringify(version)}
    expose: ["8080"]
    stop_grace_period: 1s
${more}`,
  files: { Dockerfile: base64(DOCKERFILE), busybox: busybox() },
})

/** With `mode` 755 for what runs. */
export const bodyOf = ({ compose, files }: Project) => ({
  compose,
  files: Object.fromEntries(
    Object.entries(files).map(([path, content]) => [
      path,
      path.endsWith('busybox') ? { base64: content, mode: '755' } : content,
    ]),
  ),
})

export const visitHost = (
  host: Pick<AppHost, 'baseDomain' | 'httpsPort' | 'acme'>,
  slug: string,
  path: string,
  options: Visit,
): Promise<Page> => {
  const { method = 'GET', headers = {}, body, agent } = options
  const hostname = slug.includes('.') ? slug : `${slug}.${host.baseDomain}`
  const all = {
    host: '127.0.0.1',
    port: host.httpsPort,
    path,
    method,
    servername: hostname,
    ca: readFileSync(host.acme.caCert),
    headers: { host: `${hostname}:${host.httpsPort}`, ...headers },
    agent: agent ?? (false as const),
    timeout: 20_000,
  }
  return new Promise((resolve, reject) => {
    const sent = request(all, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      noteCookies(response.headers['set-cookie'] ?? [])
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    sent.on('error', reject).on('timeout', () => sent.destroy(new Error('the app did not answer in time')))
    sent.end(body)
  })
}

/** @param more what its spec says otherwise */
export const registerHost = async (
  platform: Platform,
  host: AppHost,
  name = 'local',
  more: object = {},
): Promise<void> => {
  const pg = makePg({ url: platform.database.url, max: 1 })
  await makeCredentials({ pg, keys: platform.keys }).put(name, 1, host.privateKey)
  await pg.close()
  const metadata = { name, namespace: platform.namespace.name }
  const spec = { ...host.spec, ...more, approved: false }
  await platform.kubectl(['apply', '-f', '-'], { apiVersion: 'bottega.dev/v1alpha1', kind: 'Host', metadata, spec })
  const phase = async () => (await platform.kubectl(['get', 'bhost', name, '-o', 'jsonpath={.status.phase}'])).trim()
  await eventually('the inspection of the host', async () => (await phase()) === 'inspected', 180_000)
  await platform.kubectl(['patch', 'bhost', name, '--type=merge', '-p', '{"spec":{"approved":true}}'])
  // two containers of its guard are started in between, on a machine that other runs share
  await platform.kubectl(['wait', '--for=condition=Ready', `bhost/${name}`, '--timeout=180s']).catch(async (error) => {
    const status = await platform.kubectl(['get', 'bhost', name, '-o', 'jsonpath={.status}'])
    throw new Error(`the host is not ready: ${status}`, { cause: error })
  })
}

const grant = (platform: Platform, account: string) =>
  platform.kubectl(['patch', 'acct', account, '--type=merge', '-p', '{"spec":{"capabilities":["app.deploy"]}}'])

/** What a request came to, as if it had been waited for. */
export const settled = ({ api }: Pick<AppCaller, 'api'>, reply: Reply): Promise<Reply> =>
  asWaitedFor(reply, (place) => api('GET', place))

const callerOf = (platform: Platform, token: string): AppCaller => {
  const api: AppCaller['api'] = (method, path, body, headers) =>
    call(platform.baseUrl, token, method, path, body, headers)
  const operate: AppCaller['operate'] = async (method, path, body) => {
    const reply = await api(method, path, body)
    if (reply.status !== 202) return reply
    const { id, app } = reply.json.operation
    const operation = await eventually(
      `the end of ${id}`,
      async () => {
        const { json } = await api('GET', `/api/apps/operations/${id}`)
        return json.operation.ended_at !== null && json.operation
      },
      OPERATION_MS,
    )
    // Its end is a row before it is in what is shown of the app: who was not answered with the end waits for both.
    await eventually(
      `the app to show the end of ${id}`,
      async () => (await api('GET', `/api/apps/${app}`)).json.app?.operations_ended.includes(id),
      OPERATION_MS,
    )
    const { releases } = (await api('GET', `/api/apps/${app}/releases`)).json
    return { ...reply, json: { ...reply.json, operation, release: releases[0] } }
  }
  return {
    api,
    operate,
    app: async (slug, more = {}) => {
      const reply = await settled({ api }, await api('POST', '/api/apps', { slug, host_id: 'local', ...more }))
      if (reply.status !== 201) throw new Error(`POST /api/apps answered ${reply.status}: ${reply.text}`)
      return reply.json.app
    },
    deploy: (id, sent, query = '') => operate('POST', `/api/apps/${id}/deploy${query}`, bodyOf(sent)),
  }
}

/** The account may deploy, and everybody has seen it. */
const enable = async (platform: Platform, account: string, { api }: AppCaller): Promise<void> => {
  await grant(platform, account)
  const capable = async () => (await api('GET', '/api/apps/publishing-capabilities')).json.deploy?.enabled === true
  await eventually(`the capability of ${account}`, capable)
}

export async function startAppStage(
  given: { env?: Record<string, string>; docker?: WhoseDocker } = {},
): Promise<AppStage> {
  const host = await startAppHost(given.docker ? { docker: given.docker } : {})
  // Its CA and the platform ask the same server of names.
  const env = { BOTTEGA_DNS_SERVERS: host.acme.dns.server, ...given.env }
  const platform = await startPlatform({ env }).catch(async (error) => {
    await host.end()
    throw error
  })
  const owner = callerOf(platform, platform.owner)
  const end = async () => {
    await platform.end()
    await host.end()
  }
  try {
    await host.prepareBuilds()
    await registerHost(platform, host)
    await enable(platform, 'demo', owner)
  } catch (error) {
    await end()
    throw error
  }
  return {
    ...owner,
    platform,
    host,
    as: async (account) => {
      const caller = callerOf(platform, await platform.token(account))
      await enable(platform, account, caller)
      return caller
    },
    visit: (slug, path = '/', options = {}) => visitHost(host, slug, path, options),
    dns: (path, body) => setDns(host, path, body),
    end,
  }
}
