/**
 * Accounts for administrators. The Account resource is the authority: a route changes it and waits for the mirror, so
 * `kubectl edit acct` and these routes do the same thing (rules/account.md#administrators).
 */
import { randomBytes } from 'node:crypto'
import { isAlreadyExists, isNotFound } from '../../controllers/base/errors.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { accountFaults } from '../../crds/account/faults.ts'
import { ACCOUNT } from '../../crds/account/kind.ts'
import { type AccountSpec, CAPABILITIES } from '../../crds/account/schema.ts'
import type { StoredAccount } from '../../crds/account/view.ts'
import { PLATFORM } from '../../crds/kernel/fields.ts'
import { GROUP, type Resource, VERSION } from '../../crds/kernel/object.ts'
import { restPointer, toPatch, toSpec } from '../../crds/kernel/rest.ts'
import { type Command, type GenerationGoal, generationGoal, judgeGeneration } from '../command/command.ts'
import { editSpec } from '../command/edit.ts'
import type { Whose } from '../command/own.ts'
import { makeResources } from '../command/resource.ts'
import { settle } from '../command/settle.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Settling, Writing } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

export type AdminNeeds = Writing & Settling & Pick<Stores, 'accounts'>

type AccountResource = Resource<AccountSpec>
type Capability = (typeof CAPABILITIES)[number]

const ID_RANDOM_BYTES = 8
/** Administrators see every account. */
const EACH: Whose = { because: 'role' }

const missing = (id: string): Problem => new Problem('NOT_FOUND', `There is no account ${id}.`)

const refuse = (spec: Partial<AccountSpec>): void =>
  refuseFaults(accountFaults(spec).map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))

/** An address signs in to one account, so no second one may have it. */
const refuseTaken = async (deps: AdminNeeds, email: string | undefined, id: string): Promise<void> => {
  const holder = email === undefined ? undefined : await deps.accounts.byEmail(email)
  if (!holder || holder.id === id) return
  const detail = `${email} is the address of the account ${holder.id}.`
  throw new Problem('EMAIL_TAKEN', detail, { faults: [{ code: 'EMAIL_TAKEN', pointer: '/email', detail }] })
}

type Change = {
  id: string
  command: Command<GenerationGoal, StoredAccount>
  write(): Promise<AccountResource>
}

const locationOf = (id: string): string => `/api/admin/accounts/${id}`

const createAccountCommand: Command<GenerationGoal, StoredAccount> = {
  name: 'account.create',
  kind: ACCOUNT,
  judge: (goal, row) => (row === undefined ? 'pending' : judgeGeneration(goal, row)),
  answer: async (_deps, _asking, _goal, row) =>
    row === undefined
      ? null
      : { status: 201, headers: { location: locationOf(row.name) }, body: { account: row.view } },
}

const changeAccountCommand: Command<GenerationGoal, StoredAccount> = {
  name: 'account.change',
  kind: ACCOUNT,
  judge: judgeGeneration,
  answer: async (_deps, _asking, _goal, row) =>
    row === undefined ? null : { status: 200, body: { account: row.view } },
}

export const accountCommands = [createAccountCommand, changeAccountCommand] as const

/** Writes, and answers with the account as the mirror shows it then. */
const changed = async (deps: AdminNeeds, request: ApiRequest, { id, command, write }: Change): Promise<Answer> => {
  // its own chain gets the entry too; an account that is made now has none yet
  const known = command === changeAccountCommand ? await deps.mirror.get(ACCOUNT, id, EACH) : undefined
  if (request.audited && known) request.audited.account = known.account
  return settle(deps, request, command, {
    name: id,
    whose: EACH,
    resource: locationOf(id),
    pending: { account: { id } },
    act: async () => generationGoal((await write()).metadata),
  })
}

/** Changes what stands now. No change, no write. @throws Problem NOT_FOUND */
const edit = (deps: AdminNeeds, id: string, of: (spec: AccountSpec) => Record<string, unknown> | null) =>
  editSpec<AccountSpec>(deps, { kind: ACCOUNT, name: id, whose: EACH }, of).catch((error) => {
    throw isNotFound(error) ? missing(id) : error
  })

export const accounts = makeResources<StoredAccount, MirrorRow<StoredAccount>, Pick<Stores, 'accounts'>>({
  kind: ACCOUNT,
  noun: 'account',
  one: 'account',
  many: 'accounts',
  pathOf: locationOf,
  whose: () => EACH,
  seen: (row) => row,
  show: (_deps, { view }) => view,
  async list(deps, _request, page) {
    const { accounts: items, total } = await deps.accounts.list(page)
    return { items, total }
  },
})

export const createAccount = async (deps: AdminNeeds, request: ApiRequest): Promise<Answer> => {
  const { id: asked, ...body } = request.body as { id?: string }
  // A repeat of the same intent is the same account.
  const drawn = request.idempotencyKey?.slice(0, ID_RANDOM_BYTES * 2) ?? randomBytes(ID_RANDOM_BYTES).toString('hex')
  const id = asked ?? `acct-${drawn}`
  if (id === PLATFORM) throw new Problem('NAME_TAKEN', `${id} is whose the platform's own hosts are.`)
  const spec = toSpec<AccountSpec>(ACCOUNT, body)
  refuse(spec)
  await refuseTaken(deps, spec.email, id)
  const metadata = { name: id, namespace: deps.namespace }
  const object = { apiVersion: `${GROUP}/${VERSION}`, kind: ACCOUNT.kind, metadata, spec }
  const write = () =>
    deps.kube.create<AccountResource>(ACCOUNT, object).catch((error) => {
      if (!isAlreadyExists(error)) throw error
      if (asked === undefined && request.idempotencyKey !== undefined) {
        return deps.kube.get<AccountResource>(ACCOUNT, { namespace: deps.namespace, name: id })
      }
      throw new Problem('NAME_TAKEN', `There is an account ${id} already.`)
    })
  return changed(deps, request, { id, command: createAccountCommand, write })
}

export const patchAccount = async (deps: AdminNeeds, request: ApiRequest): Promise<Answer> => {
  const id = request.params.id ?? ''
  const change = toPatch(ACCOUNT, request.body)
  refuse(change as Partial<AccountSpec>)
  await refuseTaken(deps, change.email as string | undefined, id)
  return changed(deps, request, { id, command: changeAccountCommand, write: () => edit(deps, id, () => change) })
}

const isCapability = (word: string): word is Capability => (CAPABILITIES as readonly string[]).includes(word)

const setCapability = (held: boolean) => async (deps: AdminNeeds, request: ApiRequest) => {
  const { id = '', capability = '' } = request.params
  if (!isCapability(capability)) {
    throw new Problem('NOT_FOUND', `There is no such capability; there are ${CAPABILITIES.join(' and ')}.`)
  }
  const write = () =>
    edit(deps, id, ({ capabilities }) => {
      if (capabilities.includes(capability) === held) return null
      const rest = capabilities.filter((one) => one !== capability)
      return { capabilities: held ? [...rest, capability] : rest }
    })
  return changed(deps, request, { id, command: changeAccountCommand, write })
}

export const grantCapability = setCapability(true)
export const withdrawCapability = setCapability(false)
