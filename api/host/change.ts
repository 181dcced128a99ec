/**
 * Registering and changing hosts. A private key is sealed before the resource names its version, and shown to nobody
 * again. What was approved is address, port, user and host key: a change of one takes the approval away.
 */

import { isNotFound, KubeError } from '../../controllers/base/errors.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { type AddressRule, hostFaults } from '../../crds/host/faults.ts'
import { HOST } from '../../crds/host/kind.ts'
import type { HostSpec } from '../../crds/host/schema.ts'
import type { HostView } from '../../crds/host/view.ts'
import type { Resource } from '../../crds/kernel/object.ts'
import { restPointer, toPatch, toSpec } from '../../crds/kernel/rest.ts'
import { type Command, type GenerationGoal, generationGoal } from '../command/command.ts'
import { editSpec } from '../command/edit.ts'
import { makeOwn, underOwnName } from '../command/make.ts'
import { type Names, namesFor } from '../command/name.ts'
import { refuseForeign, type Whose } from '../command/own.ts'
import { wakeStored } from '../command/report.ts'
import { settle } from '../command/settle.ts'
import { layingReady } from '../command/written.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { PRIVATE_KEY_BYTES_MAX, privateKeyFault } from '../io/sshkey.ts'
import { changeCommand, createCommand, deleteCommand, inspectCommand } from './commands.ts'
import type { HostNeeds } from './needs.ts'
import { hosts, isAdmin, ownRow, pathOf, whoseHost } from './read.ts'

type HostResource = Resource<HostSpec>
type HostBody = Record<string, unknown> & { id?: string; account?: string; private_key?: string }

/** What only an administrator may decide. */
const FOR_ADMINS = ['id', 'account', 'class', 'budget', 'overcommit'] as const
const APPROVED = ['address', 'port', 'user', 'hostKey'] as const

/** What every command on a host says of it. */
const commandOn = (id: string, whose: Whose) => ({ name: id, whose, resource: pathOf(id), pending: { host: { id } } })

const refuseForAdmins = ({ caller, body }: ApiRequest): void => {
  const field = FOR_ADMINS.find((name) => (body as HostBody)[name] !== undefined)
  if (field === undefined || isAdmin(caller)) return
  const detail = `${field} is for administrators to decide; leave it out.`
  throw new Problem('ROLE_REQUIRED', detail, { faults: [{ code: 'ROLE_REQUIRED', pointer: `/${field}`, detail }] })
}

const ruleFor = (deps: HostNeeds, request: ApiRequest): AddressRule => {
  if (isAdmin(request.caller)) return 'any'
  return deps.allowLoopback ? 'public-or-loopback' : 'public'
}

const refuseSpec = (spec: Partial<HostSpec>, rule: AddressRule): void =>
  refuseFaults(hostFaults(spec, rule).map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))

const refuseKey = (privateKey: string | undefined): void => {
  if (privateKey === undefined) return
  const why = privateKey.length > PRIVATE_KEY_BYTES_MAX ? 'it is too long' : privateKeyFault(privateKey)
  if (why !== null) refuseFaults([{ code: 'BAD_PRIVATE_KEY', pointer: '/private_key', detail: `private_key: ${why}` }])
}

type Change = { id: string; command: Command<GenerationGoal, HostView>; write(): Promise<HostResource> }

/** Writes, and answers with the host as it was found then. */
const changed = (deps: HostNeeds, request: ApiRequest, { id, command, write }: Change): Promise<Answer> =>
  settle(deps, request, command, {
    ...commandOn(id, whoseHost(request)),
    act: async () => generationGoal((await write()).metadata),
  })

/** Writes the spec that names a version of the key, which is sealed before. */
const withKey = (
  deps: HostNeeds,
  { id, version, privateKey }: { id: string; version: number; privateKey: string },
  use: () => Promise<HostResource>,
): Promise<HostResource> =>
  layingReady({
    lay: () => deps.credentials.put(id, version, privateKey),
    use,
    giveBack: async (isNew) => isNew && deps.credentials.takeBack(id, version),
  })

export const createHost = async (deps: HostNeeds, request: ApiRequest): Promise<Answer> => {
  refuseForAdmins(request)
  const { id: asked, account, private_key: privateKey = '', ...fields } = request.body as HostBody
  const byAdmin = isAdmin(request.caller)
  const owner = byAdmin ? account : request.caller.account
  const spec = toSpec<HostSpec>(HOST, fields, { credentialVersion: 1, ...(owner !== undefined && { account: owner }) })
  refuseSpec(spec, ruleFor(deps, request))
  refuseKey(privateKey)
  const write = async (id: string) => {
    const taken = asked !== undefined && (await deps.mirror.get(HOST, id, whoseHost(request))) !== undefined
    if (taken) throw new Problem('NAME_TAKEN', `There is a host ${id} already.`)
    // A repeat of the same intent is the same host.
    const make = async () => (await makeOwn(deps, HOST, { name: id, spec })).object as HostResource
    return withKey(deps, { id, version: spec.credentialVersion, privateKey }, make)
  }
  const names: Names = asked === undefined ? namesFor(deps.keys, 'host', request) : () => asked
  return underOwnName(names, (id) => changed(deps, request, { id, command: createCommand, write: () => write(id) }))
}

const gone = (id: string) => (error: unknown) => {
  throw isNotFound(error) ? new Problem('NOT_FOUND', `There is no host ${id}.`) : error
}

export const patchHost = async (deps: HostNeeds, request: ApiRequest): Promise<Answer> => {
  const { name: id } = await ownRow(deps, request)
  refuseForAdmins(request)
  const { private_key: privateKey, ...fields } = request.body as HostBody
  const change = toPatch(HOST, fields)
  refuseSpec(change as Partial<HostSpec>, ruleFor(deps, request))
  refuseKey(privateKey)
  const write = async () => {
    const ref = { namespace: deps.namespace, name: id }
    const there = await deps.kube.get<HostResource>(HOST, ref)
    refuseForeign(there, whoseHost(request), id)
    const { spec: now } = there
    const edit = (credentialVersion?: number) =>
      editSpec<HostSpec>(deps, { kind: HOST, name: id, whose: whoseHost(request) }, (spec) => {
        const losesApproval = APPROVED.some((field) => change[field] !== undefined && change[field] !== spec[field])
        const key = credentialVersion !== undefined && { credentialVersion }
        return { ...change, ...key, ...(losesApproval && { approved: false }) }
      })
    // The key that is named already, as a repeat sends it, is no other one.
    const isKept =
      privateKey === undefined || (await deps.credentials.versionOf(id, privateKey)) === now.credentialVersion
    if (isKept) return edit()
    const version = now.credentialVersion + 1
    return withKey(deps, { id, version, privateKey }, () => edit(version))
  }
  return changed(deps, request, { id, command: changeCommand, write: () => write().catch(gone(id)) })
}

export const deleteHost = async (deps: HostNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownRow(deps, request)
  if (await deps.hosts.isInUse(row.name)) throw new Problem('HOST_IN_USE', `Apps or sites live on ${row.name}.`)
  return hosts.delete(deps, request, { row, command: deleteCommand })
}

/** Looks at the host now, and answers with what was found. */
export const inspectHost = async (deps: HostNeeds, request: ApiRequest): Promise<Answer> => {
  const { name: id } = await ownRow(deps, request)
  const at = deps.now().toISOString()
  const key = `inspect:${request.idempotencyKey ?? request.requestId}`
  const looked = {
    resource: id,
    resourceKind: HOST.kind,
    key,
    kind: 'inspect',
    body: {},
    state: 'accepted',
    at,
  } as const
  return settle(deps, request, inspectCommand, {
    ...commandOn(id, whoseHost(request)),
    async act() {
      const { fact } = await deps.appendFact(looked)
      await wakeStored(deps, HOST, id).catch(gone(id))
      return { seq: fact.seq }
    },
  })
}

const refuseUninspected = ({ view, observedGeneration, generation }: MirrorRow<HostView>): void => {
  const { inspection, host_key_status: key, stalled, id } = view
  if (inspection?.ok && key === 'pinned' && observedGeneration === generation) return
  const why = inspection?.problems.join('; ') || stalled?.detail || 'it was not reached yet'
  throw new Problem('NOT_INSPECTED', `${id} cannot be approved: ${why}.`)
}

/** The admission policy asks the same of kubectl: a good inspection of just this generation. */
const notInspected = (error: unknown): never => {
  if (error instanceof KubeError && /NOT_INSPECTED/.test(`${error.detail}`)) {
    throw new Problem('NOT_INSPECTED', 'It changed since it was inspected; look again and approve it then.')
  }
  throw error
}

/** No work runs on it any more; what serves goes on serving (rules/host.md#withdrawn-approval). */
export const withdrawHost = async (deps: HostNeeds, request: ApiRequest): Promise<Answer> => {
  const { name: id } = await ownRow(deps, request)
  const { reason: withdrawn = 'no reason was given' } = (request.body ?? {}) as { reason?: string }
  const write = () =>
    editSpec<HostSpec>(deps, { kind: HOST, name: id, whose: whoseHost(request) }, ({ approved }) =>
      approved ? { approved: false, withdrawn } : null,
    )
  return changed(deps, request, { id, command: changeCommand, write: () => write().catch(gone(id)) })
}

export const approveHost = async (deps: HostNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownRow(deps, request)
  if (!row.view.approved) refuseUninspected(row)
  const write = () =>
    editSpec<HostSpec>(deps, { kind: HOST, name: row.name, whose: whoseHost(request) }, ({ approved }) =>
      approved ? null : { approved: true, withdrawn: null },
    ).catch(notInspected)
  return changed(deps, request, { id: row.name, command: changeCommand, write: () => write().catch(gone(row.name)) })
}
