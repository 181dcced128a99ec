/** Public keys that the caller logs in with to dev instances: listed, added, removed (rules/account.md#ssh-keys). */
import { randomBytes } from 'node:crypto'
import type { SshKeyRow } from '../../controllers/store/account/sshkeys.ts'
import { named } from '../../crds/kernel/named.ts'
import { textPattern } from '../../crds/kernel/schema.ts'
import { readPublicKey, SSH_KEY_CHARS_MAX, SSH_KEYS_MAX } from '../../crds/text/sshkeys.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { closed, list, object, text, whole, withExamples } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import type { Stores } from '../wiring/stores.ts'

type SshKeyNeeds = Pick<Deps, 'now'> & Pick<Stores, 'sshKeys'>

const ALL = '/api/account/ssh-keys'

const shown = ({ id, name, line, fingerprint, changedAt }: SshKeyRow) => ({
  id,
  name,
  public_key: line,
  fingerprint,
  changed_at: changedAt,
})

const listSshKeys = async (deps: SshKeyNeeds, { caller }: ApiRequest): Promise<Answer> => {
  const keys = await deps.sshKeys.list(caller.account)
  return { status: 200, body: { ssh_keys: keys.map(shown), total: keys.length, limit: SSH_KEYS_MAX, offset: 0 } }
}

const refusedAt = (code: 'BAD_SSH_KEY' | 'SSH_KEY_KNOWN', detail: string): Problem =>
  new Problem(code, detail, { faults: [{ code, pointer: '/public_key', detail }] })

const addSshKey = async (deps: SshKeyNeeds, request: ApiRequest): Promise<Answer> => {
  const { name, public_key: sent } = request.body as { name: string; public_key: string }
  const read = readPublicKey(sent)
  if (!read.ok) throw refusedAt('BAD_SSH_KEY', `This is no public key that logs in: ${read.detail}.`)
  const { line, fingerprint } = read
  const id = `key-${randomBytes(12).toString('hex')}`
  const key: SshKeyRow = { id, name: name.trim(), line, fingerprint, changedAt: deps.now().toISOString() }
  const added = await deps.sshKeys.add(request.caller.account, key, SSH_KEYS_MAX)
  if (added.outcome === 'known') {
    throw refusedAt('SSH_KEY_KNOWN', `The account has ${fingerprint} already, as ${added.id}.`)
  }
  if (added.outcome === 'full') {
    throw new Problem('SSH_KEY_LIMIT', `The account has ${SSH_KEYS_MAX} public keys, which is the most.`)
  }
  const path = `${ALL}/${id}`
  if (request.audited) request.audited.resource = path
  return { status: 201, headers: { location: path }, body: { ssh_key: shown(key) } }
}

const removeSshKey = async (deps: SshKeyNeeds, { caller, params }: ApiRequest): Promise<Answer> => {
  const id = params.id ?? ''
  if (!(await deps.sshKeys.remove(caller.account, id))) throw new Problem('NOT_FOUND', `There is no public key ${id}.`)
  return { status: 204 }
}

const sshKey = named(
  'SshKey',
  object('A public key.', {
    id: text('Names the key.'),
    name: text('What its owner calls it.'),
    public_key: text('Type and key, as a line of authorized_keys begins.'),
    fingerprint: text('As ssh-keygen -l tells it, SHA256:…'),
    changed_at: text('When it was added.'),
  }),
)

const tag = 'Account'
const reads = { kind: 'scope', scope: 'devboxes:read' } as const
/** Without the capability of dev instances: who is only a member of a team logs in to those of others. */
const manages = { kind: 'scope', scope: 'devboxes:manage' } as const
const EXAMPLE_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFuIGV4YW1wbGUsIHdoaWNoIG9wZW5zIG5vdGhpbmch'

export const sshKeyRoutes: Route<SshKeyNeeds>[] = [
  {
    method: 'GET',
    path: ALL,
    summary: 'List my public keys',
    tag,
    scope: reads,
    answers: {
      200: {
        description: 'All.',
        schema: object('All.', {
          ssh_keys: list('Newest first.', sshKey),
          total: whole('How many there are.'),
          limit: whole('The most there can be.'),
          offset: whole('Always 0.'),
        }),
      },
    },
    codes: [],
    handle: listSshKeys,
  },
  {
    method: 'POST',
    path: ALL,
    summary: 'Add a public key',
    description:
      'It opens the dev instances of the account, and those that are shared with a team of it where policy.teamLogin says so: each from its next report.',
    tag,
    scope: manages,
    body: withExamples(
      closed(
        object('A public key.', {
          name: {
            ...text('What you call it.'),
            minLength: 1,
            maxLength: 100,
            pattern: textPattern('line'),
            allOf: [{ pattern: '\\S' }],
          },
          public_key: {
            ...text('The line of a .pub file: ed25519, ecdsa, RSA of 2,048 bits or more, or a hardware key.'),
            minLength: 1,
            maxLength: SSH_KEY_CHARS_MAX,
          },
        }),
        ['name', 'public_key'],
      ),
      { name: 'laptop', public_key: EXAMPLE_KEY },
    ),
    answers: { 201: { description: 'Added.', schema: object('The key.', { ssh_key: sshKey }) } },
    codes: ['BAD_SSH_KEY', 'SSH_KEY_KNOWN', 'SSH_KEY_LIMIT'],
    handle: addSshKey,
  },
  {
    method: 'DELETE',
    path: `${ALL}/:id`,
    summary: 'Remove a public key',
    description: 'It is gone from each dev instance with the next report of that.',
    tag,
    scope: manages,
    answers: { 204: { description: 'Gone.' } },
    codes: ['NOT_FOUND'],
    handle: removeSshKey,
  },
]
