import * as visitorheaders from '../../../../crds/app/lifecycle/publishing/visitorheaders.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const { STRIPPED_HEADERS } = visitorheaders
const KEPT: readonly string[] = visitorheaders.KEPT_HEADERS

/** As Caddy reads a field to delete. Source: caddyserver/caddy, modules/caddyhttp/headers, HeaderOps.ApplyTo. */
const matches = (pattern: string, name: string): boolean => {
  const [wanted, got] = [pattern.toLowerCase(), name.toLowerCase()]
  const word = wanted.replaceAll('*', '')
  if (wanted.startsWith('*') && wanted.endsWith('*')) return got.includes(word)
  if (wanted.startsWith('*')) return got.endsWith(word)
  return wanted.endsWith('*') ? got.startsWith(word) : got === wanted
}
const isStripped = (name: string): boolean => STRIPPED_HEADERS.some((pattern) => matches(pattern, name))
const reaches = (name: string): boolean => !isStripped(name) || KEPT.includes(name)

/** What proxies, identity providers and networks of today tell an app. */
const KNOWN = `Oidc-Claim-Sub Oidc-Access-Token OIDC_CLAIM_email X-Amzn-Oidc-Identity X-Amzn-Oidc-Data X-Amzn-Trace-Id
  Sm-User SM_USER Sm-Universalid Iv-User Iv-Groups Iv-Creds Oam-Remote-User Osso-User-Dn Shib-Identity-Provider Mellon-Nameid
  Ct-Remote-User X-Ip X-Real-Ip X-Client-Ip True-Client-Ip Client-Ip Cluster-Client-Ip Do-Connecting-Ip Ali-Cdn-Real-Ip X-Realip
  X-Subject X-Forwarded-Email X-Forwarded-Preferred-Username X-Forwarded-Tls-Client-Cert X-Original-Forwarded-For Forwarded
  X-Goog-Authenticated-User-Email X-Goog-Authenticated-User-Id X-Goog-Iap-Jwt-Assertion X-Endpoint-Api-Userinfo
  X-Apigateway-Api-Userinfo Cf-Access-Jwt-Assertion Cf-Access-Authenticated-User-Email Cf-Connecting-Ip Cf-Ipcountry
  Ssl-Client-Verify Ssl-Client-S-Dn X-Ssl-Client-Cert X-Client-Dn X-Arr-Clientcert X-Ms-Client-Principal-Name
  X-Auth-Request-Email X-Auth-Subject X-Auth-Couchdb-Username X-Authentik-Uid X-Webauth-User X-Vouch-User X-Pomerium-Claim-Email
  Remote-User Remote-Groups Remote-Email Tailscale-User-Login X-Tailscale-User X-Proxyuser-Ip Teleport-Jwt-Assertion X-Saml-Nameid
  Impersonate-User X-Consumer-Username X-Credential-Identifier X-Remote-Addr X-Envoy-Peer-Metadata X-Appengine-User-Ip
  X-Scheme X-Url-Scheme X-Host X-Original-Url X-Rewrite-Url Front-End-Https Via X-Bottega-Gate User Username Email Userid Eppn`

/** What no proxy sends today, and one of tomorrow might. */
const UNHEARD = `X-Zorg-User X-Zorg-Username X-Zorg-User-Id X-Zorg-Email X-Zorg-Roles X-Zorg-Groups X-Zorg-Subject X-Zorg-Principal-Id
  Zorg-Claim-Tier Zorg-Claims X-Zorg-Identity Zorg-Authenticated-As Zorg-Impersonating X-Zorg-Client-Cert-Serial Zorg-Client-Ip
  X-Zorg-Ip X-Zorg-Ip-Chain X-Zorg-Remote-Addr Zorg-Forwarded-Peer X-Zorg-Oidc-Sub Cf-Zorg Fly-Zorg X-Auth-Zorg X-Remote-Zorg
  X-Forwarded-Zorg Tailscale-Zorg Oidc-Zorg Sm-Zorg Ssl-Zorg X-Amzn-Zorg Remote-Zorg X-Real-Zorg`

/** Browsers, clients of APIs, what frameworks add, and who calls back. */
const THE_VISITORS = `Accept Accept-Encoding Accept-Language Access-Control-Request-Headers Authorization Cache-Control Connection Content-Type
  Content-Length Content-Encoding Content-Digest Cookie DNT Expect From If-Match If-None-Match If-Modified-Since If-Range Last-Event-ID
  Origin Pragma Prefer Priority Range Referer Sec-CH-UA Sec-CH-UA-Mobile Sec-CH-UA-Platform Sec-Fetch-Dest Sec-Fetch-Mode
  Sec-Fetch-Site Sec-Fetch-User Sec-GPC Sec-WebSocket-Key Sec-WebSocket-Protocol Sec-WebSocket-Version Service-Worker Signature
  Signature-Input Upgrade Upgrade-Insecure-Requests User-Agent Depth Destination Overwrite Lock-Token Tus-Resumable Upload-Offset
  X-Requested-With X-CSRF-Token X-XSRF-TOKEN X-CSRFToken X-Api-Key Api-Key Api-Username X-Auth-Token X-Auth-Key X-Access-Token
  X-Session-Token X-HTTP-Method-Override X-Request-Id X-Correlation-Id Traceparent Tracestate Baggage Sentry-Trace Idempotency-Key
  X-Inertia X-Inertia-Version X-Livewire HX-Request HX-Target Turbo-Frame RSC Next-Action Next-Router-State-Tree X-Nextjs-Data
  X-Grpc-Web Grpc-Timeout X-User-Agent Apollographql-Client-Name X-Apollo-Operation-Name X-Client-Version X-Hasura-Admin-Secret
  X-Hasura-Role X-Parse-Session-Token X-Firebase-Appcheck X-WP-Nonce Private-Token X-Tenant-Id X-Timezone X-Zip-Code X-Experiment-Group
  X-Amz-Date X-Amz-Content-Sha256 X-Amz-Security-Token X-Amz-User-Agent X-Amz-Sns-Message-Type X-Ms-Client-Request-Id
  X-Hub-Signature-256 X-Github-Event X-Github-Delivery X-Gitlab-Event X-Gitlab-Token Stripe-Signature X-Shopify-Hmac-Sha256
  X-Shopify-Topic X-Shopify-Shop-Domain X-Twilio-Signature X-Slack-Signature X-Slack-Request-Timestamp Webhook-Id Webhook-Signature
  Svix-Id Paypal-Transmission-Sig Paypal-Cert-Url Paypal-Auth-Algo X-Goog-Channel-Id X-Goog-Resource-State X-Line-Signature`

const namesIn = (text: string): string[] => text.split(/\s+/)

spec('headers that a visitor may not bring to an app', (t) => {
  t('are those by which proxies, networks and identity providers say who he is and from where he comes', () => {
    assert.equal(namesIn(KNOWN).filter(reaches), [])
  })

  t('are those of a proxy that nobody has heard of yet, by its family or by its words', () => {
    assert.equal(namesIn(UNHEARD).filter(reaches), [])
  })

  t('are none that a browser, a client of an API, a framework or who calls back sends', () => {
    assert.equal(
      namesIn(THE_VISITORS).filter((name) => !reaches(name)),
      [],
    )
  })

  t('come back by name alone where a closed family has some of the visitor', () => {
    assert.equal(
      KEPT.filter((name) => !isStripped(name)),
      [],
      'what no family holds needs no exception',
    )
  })
})
