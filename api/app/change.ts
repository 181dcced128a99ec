/** PATCH and DELETE of an app: a change of desire; what runs is not touched by the first, and all of it goes by the second. */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { faultsOf } from '../../crds/app/faults.ts'
import { APP } from '../../crds/app/kind.ts'
import { matches } from '../../crds/app/lifecycle/publishing/plans.ts'
import { type AppBudget, type AppSpec, spec as specSchema } from '../../crds/app/schema.ts'
import type { AppView } from '../../crds/app/view.ts'
import { fixedFaults, restPointer, toPatch } from '../../crds/kernel/rest.ts'
import { isObject, type Schema, withDefaults } from '../../crds/kernel/schema.ts'
import { generationGoal } from '../command/command.ts'
import { editSpec } from '../command/edit.ts'
import { sameOwner } from '../command/own.ts'
import { settle } from '../command/settle.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { budgetCommand, changeCommand, deleteCommand } from './commands.ts'
import { reserveReplicas } from './hosts.ts'
import type { AppNeeds } from './needs.ts'
import { storePassword } from './publishing/password.ts'
import { policyEtag } from './publishing/policy.ts'
import { appEtag, apps } from './read.ts'

type Change = Record<string, unknown>

/** A merge patch that leaves nothing of what stood there before, however deep. */
const replacedWhole = (schema: Schema, given: unknown): unknown => {
  if (!isObject(schema) || typeof given !== 'object' || given === null) return given
  const pairs = Object.entries(schema.properties).map(([key, child]) => [
    key,
    key in given ? replacedWhole(child, Reflect.get(given, key)) : null,
  ])
  return Object.fromEntries(pairs)
}

const withoutNulls = (value: object): object => {
  const left = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(
    left.map(([key, inner]) => [key, typeof inner === 'object' && !Array.isArray(inner) ? withoutNulls(inner) : inner]),
  )
}

/** Its fields are whole values or scalars: a merge of the first level says what the API server will make of it. */
const merged = (spec: AppSpec, change: Change): AppSpec => {
  return withDefaults(specSchema, withoutNulls({ ...spec, ...change }))
}

const write = (deps: AppNeeds, row: MirrorRow<AppView>, change: Change) =>
  editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, (spec) => {
    const after = merged(spec, change)
    const faults = [...fixedFaults(specSchema, spec, after), ...faultsOf(after)]
    refuseFaults(faults.map((fault) => ({ ...fault, pointer: restPointer(fault.pointer) })))
    return change
  })

/** A PATCH may say on what it was made; the ETag is that of the app, or of its access. @throws Problem PRECONDITION_FAILED */
const refuseStale = ({ headers }: ApiRequest, { view }: MirrorRow<AppView>): void => {
  const ifMatch = headers['if-match']
  if (ifMatch === undefined || matches(ifMatch, appEtag(view)) || matches(ifMatch, policyEtag(view))) return
  throw new Problem('PRECONDITION_FAILED', `If-Match is ${ifMatch}, and the app is at ${appEtag(view)}.`)
}

export const patchApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  refuseStale(request, row)
  const { password, ...body } = request.body as { password?: string } & Change
  const change = toPatch(APP, body)
  // The objects are replaced whole, so that a PATCH can leave a part of one away.
  for (const field of ['route', 'budget', 'commands', 'handOver'] as const) {
    change[field] = replacedWhole(specSchema.properties[field], change[field])
    if (change[field] === undefined) delete change[field]
  }
  const { budget, replicas } = change as { budget?: AppBudget | null; replicas?: number | null }
  const isRoom = budget !== undefined || replicas !== undefined
  const answer = await settle(deps, request, isRoom ? budgetCommand : changeCommand, {
    ...apps.commandOn(row),
    async act() {
      // who changes the access of an app of before gives its own route up
      if (change.access !== undefined && change.access !== row.view.access) change.routing = 'managed'
      if (isRoom) {
        await reserveReplicas(deps, row, {
          ...(budget !== undefined && { budget }),
          ...(replicas !== undefined && { replicas: replicas ?? 1 }),
        })
      }
      if (password !== undefined) change.passwordVersion = await storePassword(deps, row.name, password)
      return generationGoal((await write(deps, row, change)).metadata)
    },
  })
  // who was let in before is asked again at once
  if (change.access !== undefined || password !== undefined) deps.publishing.decisions.forget(row.name)
  return answer
}

/** What is kept of the volumes is the caller's to say, when there are any. */
const volumesChoice = (row: MirrorRow<AppView>, given: string | undefined): 'keep' | 'delete' => {
  if (given === 'keep' || given === 'delete') return given
  const volumes = row.view.volumes
  if (volumes.length === 0) return 'delete'
  throw new Problem('VOLUMES_AT_RISK', `The app has the volumes ${volumes.join(', ')}.`)
}

export const deleteApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  if ((await deps.apps.open(row.name)).length > 0) {
    throw new Problem('OPERATION_RUNNING', `An operation of ${row.name} waits or runs.`)
  }
  const volumesOnDelete = volumesChoice(row, request.query.volumes)
  const before = () =>
    editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, () => ({ volumesOnDelete }))
  return apps.delete(deps, request, { row, command: deleteCommand, before })
}
