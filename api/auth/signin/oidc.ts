/**
 * Signing in with OpenID Connect: authorization code with PKCE, state and nonce. What has to be remembered between the
 * two visits lies sealed in a cookie of the visitor, so that the answer counts only in the browser that asked, and any
 * process can take it. The only importer of openid-client.
 * Source: OpenID Connect Core 3.1; RFC 9700 (OAuth 2.0 Security BCP) 2.1; RFC 9207.
 */
import * as client from 'openid-client'
import type { Keys } from '../../../controllers/base/keys.ts'
import type { Log } from '../../../controllers/base/log.ts'
import type { Sealer } from '../../../controllers/base/seal.ts'
import { isEmail } from './signin.ts'

/** How long a visit to the provider may take. */
export const VISIT_MS = 10 * 60 * 1000
export const CALLBACK_PATH = '/signin/oidc/callback'
const ABOUT = 'visit'
const TIMEOUT_SECONDS = 10

export type OidcSettings = { issuer: string; clientId: string; clientSecret: string }

/** Why nobody was signed in, in words for the visitor. */
export class NotSignedIn extends Error {
  override name = 'NotSignedIn'
}

export type Oidc = {
  /** What the provider is called on the page. */
  name: string
  /** Where to send the visitor, and what its cookie has to hold meanwhile. @throws NotSignedIn when the provider is away */
  begin(next: string): Promise<{ url: string; visit: string }>
  /** @throws NotSignedIn */
  finish(query: Record<string, string>, visit: string): Promise<{ email: string; next: string }>
}

type Visit = { state: string; nonce: string; verifier: string; next: string; untilMs: number }

/** Only on this machine may a provider be reached without TLS: for development and tests. */
const isLoopback = (url: URL): boolean => ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)

export type OidcDeps = { keys: Pick<Keys, 'visitSealer'>; publicUrl: string; now: () => Date; log: Log }

type OidcState = Omit<OidcDeps, 'keys'> & {
  settings: OidcSettings
  issuer: URL
  sealer: Sealer
  found: Promise<client.Configuration> | undefined
}

const discover = async ({ issuer, settings }: OidcState): Promise<client.Configuration> => {
  const execute = issuer.protocol === 'http:' && isLoopback(issuer) ? [client.allowInsecureRequests] : []
  const options = { execute, timeout: TIMEOUT_SECONDS }
  const secret = client.ClientSecretBasic(settings.clientSecret)
  return client.discovery(issuer, settings.clientId, undefined, secret, options)
}

/** Asked for once; a failure is not kept. */
const provider = (oidc: OidcState): Promise<client.Configuration> => {
  oidc.found ??= discover(oidc).catch((error: unknown) => {
    oidc.found = undefined
    throw error
  })
  return oidc.found
}

const failed = ({ log }: OidcState, error: unknown, say: string): never => {
  log.warn({ err: error }, 'sign-in with OpenID Connect failed')
  throw new NotSignedIn(say)
}

const openVisit = ({ sealer, now }: OidcState, text: string): Visit => {
  let visit: Visit
  try {
    visit = JSON.parse(sealer.open(Buffer.from(text, 'base64url'), ABOUT).toString('utf8'))
  } catch {
    throw new NotSignedIn('This browser did not begin a sign-in, or its cookie was lost. Begin again.')
  }
  if (visit.untilMs < now().getTime()) throw new NotSignedIn('The sign-in took too long. Begin again.')
  return visit
}

/** From the signed token itself; only where that does not say, the provider is asked. */
const addressOf = async (
  config: client.Configuration,
  tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>,
): Promise<string> => {
  const claims = tokens.claims()
  if (!claims) throw new NotSignedIn('The provider did not say who you are.')
  const profile =
    claims.email === undefined ? await client.fetchUserInfo(config, tokens.access_token, claims.sub) : claims
  const { email, email_verified: isVerified } = profile
  if (typeof email !== 'string' || !isEmail(email))
    throw new NotSignedIn('The provider did not tell an e-mail address.')
  if (isVerified !== true) throw new NotSignedIn('The provider has not verified your e-mail address.')
  return email
}

const begin = async (oidc: OidcState, next: string): Promise<{ url: string; visit: string }> => {
  const verifier = client.randomPKCECodeVerifier()
  const visit = { state: client.randomState(), nonce: client.randomNonce(), verifier, next }
  const config = await provider(oidc).catch((error: unknown) =>
    failed(oidc, error, 'The provider cannot be reached right now.'),
  )
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: `${oidc.publicUrl}${CALLBACK_PATH}`,
    scope: 'openid email',
    response_type: 'code',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: visit.state,
    nonce: visit.nonce,
  })
  const kept: Visit = { ...visit, untilMs: oidc.now().getTime() + VISIT_MS }
  return { url: url.href, visit: oidc.sealer.seal(Buffer.from(JSON.stringify(kept)), ABOUT).toString('base64url') }
}

const finish = async (
  oidc: OidcState,
  query: Record<string, string>,
  text: string,
): Promise<{ email: string; next: string }> => {
  const { state, nonce, verifier, next } = openVisit(oidc, text)
  const current = new URL(`${oidc.publicUrl}${CALLBACK_PATH}`)
  for (const [name, value] of Object.entries(query)) current.searchParams.set(name, value)
  try {
    const config = await provider(oidc)
    const tokens = await client.authorizationCodeGrant(config, current, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    return { email: await addressOf(config, tokens), next }
  } catch (error) {
    if (error instanceof NotSignedIn) throw error
    return failed(oidc, error, 'The provider did not confirm the sign-in. Begin again.')
  }
}

export const makeOidc = (settings: OidcSettings, deps: OidcDeps): Oidc => {
  const { keys, publicUrl, now, log } = deps
  const issuer = new URL(settings.issuer)
  const oidc: OidcState = {
    ...{ publicUrl, now, log, settings, issuer },
    sealer: keys.visitSealer('oidc'),
    found: undefined,
  }
  return {
    name: issuer.host,
    begin: (next) => begin(oidc, next),
    finish: (query, visit) => finish(oidc, query, visit),
  }
}
