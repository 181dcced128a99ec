import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import { streaming } from '../../../support/doubles/streams.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, startAppStage } from '../../../support/stage/apps.ts'

/** Nothing of a private app is open to who has not signed in, also where certificates are proven. */

const timeoutMs = 240_000

/** Below the path where a CA looks, as it is written and as servers behind the proxy may read it. */
const PATHS = [
  '/.well-known/acme-challenge/file',
  '/.well-known/acme-challenge/file?download=1',
  '/.well-known/acme-challenge/',
  '/.well-known/acme-challenge',
  '/.well-known/acme-challenge/no/such/page',
  '/.well-known/acme-challenge/../admin',
  '/.well-known/acme-challenge/%2e%2e/%2e%2e/admin',
  '/.well-known/acme-challenge/%252e%252e/%252e%252e/admin',
  '/.Well-Known/ACME-challenge/..;/admin',
  '/.well-known/acme-challenge/..;/..;/admin',
  '/.well-known/acme-challenge/..%2f..%2fadmin',
  '/.well-known/acme-challenge/..%5c..%5cadmin',
  '/.well-known%2facme-challenge/file',
  '/%2ewell-known/%61cme-challenge/file',
  '//.well-known//acme-challenge/file',
  '/.well-known/acme-challenge\\..\\admin',
  '/.well-known/./acme-challenge/.;/file',
  '/%252ewell-known/acme-challenge/file',
  '/.well-known/acme-challenge/file;/../../admin',
]

/** Round the page to sign in, the one path that is open: it is the platform's, and nothing beside it is. */
const AROUND = [
  '/_bottega/access/..;/admin',
  '/_bottega/access/../admin',
  '/_bottega/access/%2e%2e/admin',
  '/_bottega/access%2f..%2fadmin',
  '/_bottega/access%252f..%252fadmin',
  '/_bottega/access;/admin',
  '/_bottega/access/admin',
  '/_bottega\\access\\..\\admin',
  '/admin?/_bottega/access',
  '/admin/_bottega/access',
]

/** What proxies and identity providers of many makes tell apps, as a visitor would write it. */
const CLAIMS = [
  ...[
    'X-Real-IP',
    'x_real_ip',
    'X_Forwarded_For',
    'Forwarded',
    'True-Client-IP',
    'X-Client-IP',
    'CF-Connecting-IP',
    'Fastly-Client-IP',
  ],
  ...[
    'X-Cluster-Client-IP',
    'X-Forwarded-Port',
    'X-Forwarded-Prefix',
    'X-Forwarded-For-Original',
    'X-Original-URL',
    'X-Rewrite-URL',
  ],
  ...[
    'X-Remote-Addr',
    'X-Host',
    'X-Envoy-External-Address',
    'X-Azure-ClientIP',
    'X-Amzn-Oidc-Identity',
    'Remote-User',
    'REMOTE_USER',
  ],
  ...[
    'X-Forwarded-User',
    'X-Forwarded-Groups',
    'X-Auth-Request-Email',
    'X-Authenticated-User',
    'X-Authentik-Username',
    'X-WebAuth-User',
  ],
  ...[
    'X-Goog-Authenticated-User-Email',
    'X-MS-Client-Principal',
    'X-Pomerium-Jwt-Assertion',
    'Tailscale-User-Login',
    'X-User-Id',
    'X-Email',
  ],
  ...[
    'X-Ssl-Client-Verify',
    'X-Client-Cert',
    'Impersonate-User',
    'X-Bottega-Gate',
    'X-Consumer-Username',
    'Cf-Access-Jwt-Assertion',
  ],
  ...['Oidc-Claim-Sub', 'SM-User', 'X-Ip', 'X-Subject', 'X-Endpoint-API-UserInfo', 'Iv-Groups', 'X-Auth-Subject'],
  // of a proxy that nobody has heard of
  ...['X-Zorg-User', 'Zorg-Remote-Addr', 'X-Zorg-Client-Cert-Serial', 'Zorg-Authenticated-As', 'X-Zorg-Forwarded-Peer'],
]
/** What apps ask for and only their own pages and partners know. */
const PASSED = [
  'X-Requested-With',
  'X-CSRF-Token',
  'X-Hub-Signature-256',
  'X-Api-Key',
  'X-Auth-Token',
  'Accept-Language',
  'Idempotency-Key',
  'X-Inertia',
  'X-Hasura-Role',
  'X-Goog-Channel-Id',
  'Sec-Fetch-User',
  'X-User-Agent',
  'Api-Username',
]

spec('a private app', (t) => {
  let stage: AppStage
  t.before(async () => {
    stage = await startAppStage()
    const { id } = await stage.app('closed', { access: 'private', password: 'correct horse battery' })
    // It answers every path, as an app of one page does.
    const { json, text } = await stage.deploy(id, streaming('secret'))
    assert.is(json.operation.state, 'succeeded', text)
  })
  t.after(() => stage?.end())

  t(
    'asks for the password below the path of certificate challenges as anywhere else',
    async () => {
      for (const path of PATHS) {
        for (const method of ['GET', 'POST', 'PUT']) {
          const { status, text } = await stage.visit('closed', path, { method })
          assert.equal([method, path, status, text.includes('secret')], [method, path, 401, false])
        }
        const page = await stage.visit('closed', path, { headers: { accept: 'text/html' } })
        assert.equal([path, page.status], [path, 303])
      }
    },
    { timeoutMs },
  )

  t('has no way round the page to sign in', async () => {
    for (const path of AROUND) {
      for (const method of ['GET', 'POST']) {
        const { status, text } = await stage.visit('closed', path, { method })
        assert.ok(status >= 400 && !text.includes('secret'), `${method} ${path}: ${status}`)
      }
    }
  })

  t('asks for the password whatever a request names as its target, and under whatever name it came', async () => {
    const { id } = await stage.app('open')
    assert.is((await stage.deploy(id, streaming('greeting'))).json.operation.state, 'succeeded')
    const { baseDomain, httpsPort } = stage.host
    const target = `https://closed.${baseDomain}:${httpsPort}/.well-known/acme-challenge/file`
    const ways: [string, string, Record<string, string>][] = [
      ['closed', target, {}],
      ['closed', target.replace('https:', 'http:'), {}],
      ['open', target, {}],
      ['open', target, { host: `closed.${baseDomain}:${httpsPort}` }],
      ['open', '/file', { host: `closed.${baseDomain}:${httpsPort}` }],
      ['open', '/file', { host: `SHUT.${baseDomain}.` }],
      ['closed', '/file', { 'x-forwarded-host': `open.${baseDomain}`, 'x-original-url': '/_bottega/access' }],
    ]
    for (const [name, path, headers] of ways) {
      const { status, text } = await stage.visit(name, path, { headers })
      assert.ok(status !== 200 || !text.includes('secret'), `${name} ${path} ${JSON.stringify(headers)}: ${status}`)
      assert.not.match(text, 'secret')
    }
    assert.match((await stage.visit('open', '/file')).text, 'greeting')
  })

  const signIn = async (): Promise<string> => {
    const opened = await stage.visit('closed', '/_bottega/access', {
      method: 'POST',
      body: new URLSearchParams({ password: 'correct horse battery', next: '/' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    return String(opened.headers['set-cookie']).split(';')[0] ?? ''
  }

  t('answers there who has signed in', async () => {
    const cookie = await signIn()
    const { status, text } = await stage.visit('closed', '/.well-known/acme-challenge/file', { headers: { cookie } })
    assert.equal([status, text.trim()], [200, 'secret'])
  })

  t('is told by no header of a visitor who he is or from where he comes', async () => {
    const cookie = await signIn()
    const claimed = Object.fromEntries(CLAIMS.map((name) => [name, 'forged']))
    const passed = Object.fromEntries(PASSED.map((name) => [name, 'passed']))
    const words = { 'X-Auth-Signature': '{env.PATH}{http.request.host}' }
    const { text } = await stage.visit('closed', '/headers', { headers: { cookie, ...claimed, ...passed, ...words } })
    const lines = text.trim().split('\n')
    assert.equal(
      lines.filter((line) => line.includes('forged')),
      [],
    )
    const names = lines.filter((line) => line.endsWith(': passed')).map((line) => line.split(':')[0]?.toLowerCase())
    assert.equal(names.sort(), PASSED.map((name) => name.toLowerCase()).sort())
    assert.match(text, /^x-auth-signature: \{env\.PATH\}\{http\.request\.host\}$/im, 'what passes is as it came')
    assert.not.match(text, /^x-(auth-nonce|client-version):/im, 'and nothing that did not come')
    assert.equal(
      lines.filter((line) => /^x-forwarded-(for|proto|host):/i.test(line)).length,
      3,
      'what the proxy itself knows is there',
    )
    assert.not.match(text, /bottega/i)
  })

  t('has a certificate of the CA under its own name', async () => {
    const { host } = stage
    const servername = `closed.${host.baseDomain}`
    const ca = readFileSync(host.acme.caCert)
    const socket = connect({ host: '127.0.0.1', port: host.httpsPort, servername, ca })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    const { subjectaltname, issuer } = socket.getPeerCertificate()
    socket.destroy()
    assert.is(subjectaltname, `DNS:${servername}`)
    assert.match(String(issuer.CN), /Pebble/)
  })
})
