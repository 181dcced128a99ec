/**
 * Headers that a visitor may not bring to an app: who he is, from where he comes, and how he came are for the proxy and the
 * platform to say. An app may be built to stand behind any proxy, and believes what that one would have set. So whole families are
 * closed, by what proxies call themselves and by the words that they say it with; what a family has of the visitor's own is named, and
 * passes (hack/decisions/114). The proxy sets X-Forwarded-For, -Proto and -Host again itself.
 * `x*`, `*x` and `*x*` as Caddy reads them, whatever the case.
 */

/** An application server of the CGI family reads `X_Real_IP` as it reads `X-Real-IP`. */
const UNDERSCORES = ['*_*']

/** From where he comes and how, in whoever's words. */
const ADDRESS_WORDS = [
  ...['*Forwarded*', '*-Ip', '*-Ip-*', '*-Ipaddr*', '*-Addr', '*Clientip*', '*Realip*', '*Remoteip*', '*Userip*', 'Ip'],
  ...[
    '*Geoip*',
    'X-Geo-*',
    'X-Scheme',
    'X-Url-Scheme',
    'X-Proto',
    'X-Port',
    'X-Https',
    'X-Host',
    'X-Http-Host-*',
    'Via',
  ],
]

/** Who he is, in whoever's words. Neither -Role nor -Group: what an app is asked for is called so as well. */
const IDENTITY_WORDS = [
  ...['*User', '*Userid', '*User-Id', '*Username', '*User-Name', '*Userinfo*', '*Email', '*Upn', '*Login', '*-Sub'],
  ...['*Groups', '*Roles', '*Subject', '*-Principal', '*-Principal-*', '*Identity', '*Assertion', '*-Claim', '*Claims'],
  ...['*-Claim-*', '*Authenticated*', '*Impersonat*', '*Oidc*', '*Saml*', 'X-Uid', 'Eppn', 'X-Id-Token'],
  ...['*Client-Cert*', '*Clientcert*', '*Client-Verify*', '*-Dn', 'X-Ssl-*', 'Ssl-*'],
]

/** What stands before an app and tells it more than its name would let one think. */
const PROXIES = [
  ...[
    'X-Real-*',
    'X-Client-*',
    'X-Remote-*',
    'Remote-*',
    'X-Cluster-Client-*',
    'True-Client-*',
    'Front-End-*',
    'X-Arr-*',
  ],
  ...['X-Original-*', 'X-Originating-*', 'X-Rewrite-*', 'X-ProxyUser-*', 'X-Bottega-*', 'X-Kubernetes-*', 'Incap-*'],
  ...['Cf-*', 'Cdn-*', 'Fastly-*', 'Fly-*', 'X-Appengine-*', 'X-Azure-*', 'X-Envoy-*', 'X-Vercel-*', 'X-Sucuri-*'],
  ...[
    'X-Nf-*',
    'X-Akamai-*',
    'Akamai-*',
    'X-Amzn-*',
    'X-Amz-Cf-*',
    'Cloudfront-*',
    'X-Goog-Iap-*',
    'X-Ms-Client-Principal*',
  ],
  ...[
    'Auth-*',
    'X-Auth-*',
    'X-Authn-*',
    'X-Authz-*',
    'X-Authentik-*',
    'X-Authelia-*',
    'X-Sso-*',
    'X-Webauth-*',
    'X-Vouch-*',
  ],
  ...['X-User', 'X-User-*', 'X-Email-*', 'X-Group-*', 'X-Role-*', 'X-Consumer-*', 'X-Credential-*', 'X-Anonymous-*'],
  ...[
    'X-Pomerium-*',
    'X-Tailscale-*',
    'Tailscale-*',
    'X-Jwt-*',
    'Sm-*',
    'Iv-*',
    'Oam-*',
    'Osso-*',
    'Shib-*',
    'Mellon-*',
  ],
]

export const STRIPPED_HEADERS: readonly string[] = [...UNDERSCORES, ...ADDRESS_WORDS, ...IDENTITY_WORDS, ...PROXIES]

/** Of these families what says nothing of who he is: a browser's own words, and credentials that an app judges itself. */
export const KEPT_HEADERS = [
  ...['Sec-Fetch-User', 'X-User-Agent', 'X-Client-Version', 'Api-Username'],
  ...['X-Auth-Token', 'X-Auth-Key', 'X-Auth-Signature', 'X-Auth-Timestamp', 'X-Auth-Nonce'],
] as const

const variable = (name: string): string => `bottega_kept_${name.toLowerCase().replaceAll('-', '_')}`

/** Put back as it came; what did not come stays away. */
const giveBack = (name: string) => ({
  match: [{ vars_regexp: { [variable(name)]: { pattern: '.' } } }],
  handle: [{ handler: 'headers', request: { set: { [name]: [`{http.vars.${variable(name)}}`] } } }],
})

/** The handler that takes them away. */
export const stripHeaders = (): object => {
  const kept = Object.fromEntries(KEPT_HEADERS.map((name) => [variable(name), `{http.request.header.${name}}`]))
  const take = [
    { handler: 'vars', ...kept },
    { handler: 'headers', request: { delete: [...STRIPPED_HEADERS] } },
  ]
  return { handler: 'subroute', routes: [{ handle: take }, ...KEPT_HEADERS.map(giveBack)] }
}
