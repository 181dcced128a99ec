/**
 * Headers that a visitor may not bring to an app: who he is, from where he comes, and how he came are for the proxy and the
 * platform to say. An app may be built to stand behind any proxy, and believes what that one would have set.
 * `x*` and `*x*` as Caddy reads them, whatever the case. The proxy sets X-Forwarded-For, -Proto and -Host again itself.
 */

/** An application server of the CGI family reads `X_Real_IP` as it reads `X-Real-IP`. */
const UNDERSCORES = ['*_*']

const ADDRESS = [
  ...['Forwarded', 'X-Forwarded', 'X-Forwarded-*', 'Forwarded-*', 'X-Real-*', 'X-Client-*', 'Client-Ip', 'X-Remote-*'],
  ...[
    'X-Cluster-Client-*',
    'X-Original-*',
    'X-Originating-*',
    'X-Rewrite-*',
    'X-Host',
    'X-Http-Host-*',
    'X-ProxyUser-*',
  ],
  ...['True-Client-*', 'Cf-*', 'Cdn-*', 'Fastly-*', 'Fly-*', 'X-Appengine-*', 'X-Azure-*', 'X-Envoy-*', 'X-Vercel-*'],
  ...['X-Nf-*', 'X-Akamai-*', 'Akamai-*', 'X-Amzn-*', 'X-Amz-Cf-*', 'Cloudfront-*', 'X-Sucuri-*', 'Incap-*', 'Via'],
]

/** Credentials that apps judge themselves pass: X-Auth-Token, X-Api-Key and their like. */
const IDENTITY = [
  ...[
    'Remote-*',
    'Auth-*',
    'X-Auth-User*',
    'X-Auth-Email*',
    'X-Auth-Name*',
    'X-Auth-Group*',
    'X-Auth-Role*',
    'X-Authenticated-*',
    'X-Authentik-*',
    'X-Authelia-*',
    'X-User',
    'X-User-*',
    'X-Userid',
  ],
  ...[
    'X-Username',
    'X-Email',
    'X-Email-*',
    'X-Groups',
    'X-Group-*',
    'X-Roles',
    'X-Role-*',
    'X-Sso-*',
    'X-Webauth-*',
    'X-Id-Token',
  ],
  ...[
    'X-Goog-Authenticated-*',
    'X-Goog-Iap-*',
    'X-Ms-Client-Principal*',
    'X-Pomerium-*',
    'X-Tailscale-*',
    'Tailscale-*',
    'X-Jwt-*',
    'X-Token-Subject',
  ],
  ...['X-Forwarded-User', 'X-Forwarded-Email', 'X-Auth-Request-*', 'X-Consumer-*', 'X-Credential-*', 'X-Anonymous-*'],
  ...[
    'X-Ssl-*',
    'Ssl-*',
    'X-Client-Cert*',
    'Client-Cert*',
    'X-Arr-*',
    'X-Kubernetes-*',
    'Impersonate-*',
    'X-Bottega-*',
  ],
]

export const STRIPPED_HEADERS: readonly string[] = [...UNDERSCORES, ...ADDRESS, ...IDENTITY]
