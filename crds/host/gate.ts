/**
 * What the gate of a build is told: HAProxy's configuration, in which no name stands, and the lists that it reads (hack/decisions/119). It
 * ends no TLS: it reads the name in the ClientHello, or the Host header of each plain request, asks for the address of that name by
 * itself, and leads on to nowhere else.
 * Source: HAProxy 2.6 to 3.2, configuration.txt ("req.ssl_sni", "do-resolve", "set-dst", "http-request return").
 */
import { type GateList, gateList } from './builds.ts'
import { CLOSED_RANGES } from './isolation.ts'

/** Files of a folder that is `/gate` within, by their names. */
export type GateFiles = Readonly<Record<'gate.cfg' | 'names' | 'below' | 'closed', string>>

/** Where it listens: what is sent to 80 and 443 comes here (controllers/kinds/host/scripts/guard.sh). */
const PORTS = { plain: 8_080, tls: 8_443 } as const
/** Of one build at once, within the memory of a gate. */
const CONNECTIONS_MAX = 512

/** Of a name that is one; all else is as none. */
const SOUND = '^[a-z0-9._-]{1,253}$'

/**
 * The same in both ways. `refuse` ends it, by the word that is logged: no name, not on the list, not found, or of no public address. What
 * is not IPv4 is of none here.
 */
const judged = (way: string, refuse: (said: string) => string): string[] => {
  const unless = (said: string, condition: string) => [
    `${way} set-var(txn.said) str(${said}) unless { ${condition} }`,
    `${way} ${refuse(said)} if { var(txn.said) -m found }`,
  ]
  return [
    ...unless('nameless', `var(txn.name) -m reg ${SOUND}`),
    `acl listed var(txn.name) -m str -f /gate/names`,
    `acl listed var(txn.name) -m end -f /gate/below`,
    `${way} set-var(txn.said) str(refused) unless listed`,
    `${way} ${refuse('refused')} if { var(txn.said) -m found }`,
    `${way} do-resolve(txn.address,host,ipv4) var(txn.name)`,
    ...unless('unknown', 'var(txn.address) -m found'),
    `${way} set-var(txn.said) str(closed) if { var(txn.address) -m ip -f /gate/closed }`,
    ...unless('closed', 'var(txn.address) -m ip 0.0.0.0/0'),
    `${way} set-dst var(txn.address)`,
    `${way} set-var(txn.said) str(passed)`,
  ]
}

/** What a client of plain HTTP reads. */
const SENTENCES: Readonly<Record<string, string>> = {
  nameless: 'Builds on this host reach hosts by their names.',
  refused: '%[var(txn.name)] is not on the list of this host.',
  unknown: '%[var(txn.name)] is on the list of this host, and has no address.',
  closed: '%[var(txn.name)] is on the list of this host, and leads to no public address.',
}
const answer = (said: string): string => `return status 403 content-type text/plain lf-string "${SENTENCES[said]}\\n"`

const section = (title: string, lines: readonly string[]): string[] => [title, ...lines.map((line) => `  ${line}`), '']

const CONFIG = [
  ...section('global', ['log stdout len 1024 format raw local0 info', `maxconn ${CONNECTIONS_MAX}`, 'nbthread 1']),
  ...section('defaults', [
    'log global',
    'log-format "%[var(txn.said)] %[var(txn.name)]"',
    'timeout connect 10s',
    'timeout client 5m',
    'timeout server 5m',
    'timeout http-request 30s',
    'timeout http-keep-alive 60s',
    // Each request is judged, and goes where it is for.
    'option http-server-close',
  ]),
  ...section('frontend tls', [
    'mode tcp',
    `bind :${PORTS.tls}`,
    'tcp-request inspect-delay 15s',
    'tcp-request content set-var(txn.name) req.ssl_sni,lower if { req.ssl_sni -m found }',
    ...judged('tcp-request content', () => 'reject'),
    'default_backend tls',
  ]),
  ...section('backend tls', ['mode tcp', 'server named 0.0.0.0:443']),
  ...section('frontend plain', [
    'mode http',
    `bind :${PORTS.plain}`,
    'http-request set-var(txn.name) req.hdr(host),host_only,lower',
    ...judged('http-request', answer),
    'default_backend plain',
  ]),
  ...section('backend plain', ['mode http', 'http-reuse never', 'server named 0.0.0.0:80']),
].join('\n')

const lines = (all: readonly string[]): string => all.map((one) => `${one}\n`).join('')

/** @throws as `gateList` does */
export const gateFiles = (packages: readonly string[], registries: readonly string[]): GateFiles => {
  const { names, below }: GateList = gateList(packages, registries)
  return { 'gate.cfg': CONFIG, names: lines(names), below: lines(below), closed: lines(CLOSED_RANGES) }
}
