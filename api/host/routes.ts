/** The routes of hosts as data (rules/host.md#the-host). */

import { livesAnswer } from '../../crds/host/answer.ts'
import { ENGINE_RESTARTS } from '../../crds/host/restart.ts'
import { BUILDS, CERTIFICATE_STATES, CLASSES, NETWORKS, PHASES, spec, USERS } from '../../crds/host/schema.ts'
import { named } from '../../crds/kernel/named.ts'
import { type JsonSchema, restSchema } from '../../crds/kernel/rest.ts'
import { PRIVATE_KEY_BYTES_MAX } from '../io/sshkey.ts'
import { amounts } from '../openapi/amounts.ts'
import { pageQuery, paging } from '../openapi/paging.ts'
import {
  chosenName,
  closed,
  flag,
  list,
  object,
  oneOf,
  pendingOf,
  text,
  textOrNull,
  whole,
} from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import { approveHost, createHost, deleteHost, inspectHost, patchHost, withdrawHost } from './change.ts'
import type { HostNeeds } from './needs.ts'
import { getHost, hosts } from './read.ts'

const fields = restSchema(spec)
const properties = fields.properties as Record<string, JsonSchema>
const privateKey: JsonSchema = {
  ...text('Logs in as the user. Sealed at once, and never shown again.'),
  minLength: 1,
  maxLength: PRIVATE_KEY_BYTES_MAX,
  'x-code': 'BAD_PRIVATE_KEY',
}

const asked: JsonSchema = {
  ...fields,
  required: ['name', ...(fields.required as string[]), 'private_key'],
  properties: {
    ...properties,
    name: { ...properties.name, minLength: 1 },
    private_key: privateKey,
    id: chosenName('For administrators: names the host for good; drawn when left out.'),
    account: chosenName("For administrators: whose it is; the platform's when left out."),
  },
}

const changes = restSchema(spec, { partial: true })
const patched: JsonSchema = {
  ...changes,
  properties: { ...(changes.properties as Record<string, JsonSchema>), private_key: privateKey },
}

const inspection: JsonSchema = named('HostInspection', {
  type: ['object', 'null'],
  description: 'What was found at the last look; null when it was not reached.',
  properties: {
    ok: flag('Nothing is to be repaired.'),
    problems: list('What is to be repaired.', text('A sentence.')),
    arch: textOrNull('Its processor.'),
    versions: object('What runs on it; empty where it is missing.', {
      kernel: text('Of the kernel.'),
      docker: text('Of the Docker engine.'),
      compose: text('Of Docker Compose.'),
      caddy: text('Of Caddy.'),
    }),
    disk: { type: ['object', 'null'], description: 'total_gib and free_gib of its disk.' },
    isolation: object('What keeps its apps apart.', {
      network: oneOf('guarded: apps reach no other app, not the host, and no private network.', NETWORKS),
      users: oneOf(
        'remapped: root in a container is nobody on the host. plain: what begins as root is refused.',
        USERS,
      ),
      builds: oneOf('cells: each app is built in a container of its own. refused: nothing is built.', BUILDS),
    }),
    engine_restart: object('What a restart of its Docker does to apps.', {
      does: oneOf(
        'whole: nothing is cut. cut: WebSockets, event streams and uploads are. ends: all apps stop.',
        ENGINE_RESTARTS,
      ),
      detail: text('What is to be done about it; empty where nothing is.'),
    }),
  },
})

const host = named(
  'Host',
  object('A host. Address, port, user, keys, proxy and folder are shown to who runs it.', {
    id: text('Names the host.'),
    name: text('What people call it.'),
    class: oneOf('shared, isolated and owned enforce the rules for compose files; platform warns.', CLASSES),
    address: text('Where it is.'),
    public_address: text('Where visitors reach it.'),
    port: whole('Of its SSH server.'),
    user: text('Who is logged in as.'),
    host_key: text('The pinned key.'),
    host_key_fingerprint: text('Of the pinned key.'),
    host_key_status: oneOf('changed: all work on it has stopped.', ['unverified', 'pinned', 'changed']),
    approved: flag('Work may run on it.'),
    withdrawn: textOrNull('Why its approval was withdrawn; null where it was not.'),
    cordoned: flag('It takes no new apps and sites.'),
    state: oneOf('How it stands.', PHASES),
    inspection,
    base_domain: textOrNull('Apps and sites get names under it.'),
    takes_sites: flag('Sites are published on it.'),
    site_root: textOrNull('The folder of their files.'),
    proxy: { type: 'object', description: 'How its Caddy is reached and what it listens on.' },
    budget: { type: 'object', description: 'What one app may use: cpu_millis, memory_mib, disk_gib.' },
    capacity: {
      type: ['object', 'null'],
      description: 'What all apps may have together: cpu_millis, memory_mib, disk_gib.',
    },
    overcommit: { type: 'object', description: 'What they may have, in hundredths of what the machine has.' },
    registries: list('Builds take images from these.', text('The name of a registry.')),
    packages: {
      type: ['array', 'null'],
      description: 'Hosts that builds reach beside these; null: every public address.',
      items: text('A name, or *. and a name for all below it.'),
    },
    builder: text('The image that builds run in.'),
    gate: text('The image that builds go through where packages are named.'),
    certificates: list(
      'What is served, the worst first.',
      object('Found by connecting.', {
        hostname: text('The name.'),
        state: oneOf('How it stands.', CERTIFICATE_STATES),
        not_after: textOrNull('When it runs out.'),
        issuer: textOrNull('Who issued it.'),
      }),
    ),
    stalled: { type: ['object', 'null'], description: 'code and detail of what a person must do.' },
    fact_seq: whole('Counts what was recorded of it.'),
    created_at: text('When it was registered.'),
    version: whole('Counts its changes.'),
  }),
)

const room = named(
  'HostRoom',
  object('What its apps have taken of it.', {
    apps: whole('How many.'),
    used: amounts('All of them together.'),
    free: amounts('What is left of its capacity; null before it was inspected.'),
  }),
)

const wrapped = named('OneHost', { description: 'The host.', schema: object('The host.', { host }) })
const pending = pendingOf('PendingHost', 'Written; the look is still to come. Poll the address in Location.', {
  host: object('The host.', { id: text('Names the host.') }),
})

const reads = { tag: 'Hosts', scope: { kind: 'scope', scope: 'apps:read' }, capability: 'app.deploy' } as const
const manages = { tag: 'Hosts', scope: { kind: 'scope', scope: 'apps:manage' }, capability: 'app.deploy' } as const
const all = '/api/apps/hosts'
const one = `${all}/:id`

export const hostRoutes: Route<HostNeeds>[] = [
  {
    ...reads,
    method: 'GET',
    path: all,
    summary: 'List hosts',
    description: "Your own and those that all may use, newest first; an administrator's list has every one.",
    query: pageQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', { hosts: list('Newest first.', host), ...paging }),
      },
    },
    codes: ['INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: hosts.list,
  },
  {
    ...manages,
    method: 'POST',
    path: all,
    summary: 'Register a host',
    description: 'It is inspected at once; work runs on it when an administrator has approved it.',
    body: asked,
    answers: { 201: wrapped, 202: pending },
    codes: [
      'INVALID_FIELD',
      'UNKNOWN_FIELD',
      'BAD_DOMAIN',
      'BAD_HOST_ADDRESS',
      'BAD_HOST_KEY',
      'BAD_PRIVATE_KEY',
      'ROLE_REQUIRED',
      'NAME_TAKEN',
    ],
    handle: createHost,
  },
  {
    ...reads,
    method: 'GET',
    path: one,
    summary: 'Read a host',
    answers: {
      200: named('HostAndRoom', {
        description: 'The host.',
        schema: object('The host.', { host, room, lives: livesAnswer }),
      }),
    },
    codes: ['NOT_FOUND'],
    handle: getHost,
  },
  {
    ...manages,
    method: 'PATCH',
    path: one,
    summary: 'Change a host',
    description: 'Another address, port, user or host_key takes the approval away.',
    body: patched,
    answers: { 200: wrapped, 202: pending },
    codes: [
      'NOT_FOUND',
      'INVALID_FIELD',
      'UNKNOWN_FIELD',
      'BAD_DOMAIN',
      'BAD_HOST_ADDRESS',
      'BAD_HOST_KEY',
      'BAD_PRIVATE_KEY',
      'ROLE_REQUIRED',
    ],
    handle: patchHost,
  },
  {
    ...manages,
    method: 'DELETE',
    path: one,
    summary: 'Forget a host',
    description: 'Its private key is forgotten; what was put on it stays there.',
    answers: { 204: { description: 'Forgotten.' }, 202: pending },
    codes: ['NOT_FOUND', 'HOST_IN_USE'],
    handle: deleteHost,
  },
  {
    ...manages,
    method: 'POST',
    path: `${one}/inspect`,
    summary: 'Inspect a host',
    answers: { 200: wrapped, 202: pending },
    codes: ['NOT_FOUND'],
    handle: inspectHost,
  },
  {
    tag: 'Hosts',
    scope: { kind: 'scope', scope: 'apps:manage' },
    role: 'admin',
    method: 'POST',
    path: `${one}/approve`,
    summary: 'Approve a host',
    answers: { 200: wrapped, 202: pending },
    codes: ['NOT_FOUND', 'NOT_INSPECTED'],
    handle: approveHost,
  },
  {
    tag: 'Hosts',
    scope: { kind: 'scope', scope: 'apps:manage' },
    role: 'admin',
    method: 'POST',
    path: `${one}/withdraw`,
    summary: 'Withdraw the approval of a host',
    description:
      'No release, change or deletion runs on it any more; what serves goes on serving, GET lists it, and apps may move away. It can be approved anew.',
    body: closed(
      object('Why.', { reason: { ...text('Why; it is shown with the host.'), minLength: 1, maxLength: 500 } }),
    ),
    answers: { 200: wrapped, 202: pending },
    codes: ['NOT_FOUND'],
    handle: withdrawHost,
  },
]
