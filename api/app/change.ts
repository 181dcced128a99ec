/** PATCH and DELETE of an app: a change of desire; what runs is not touched by the first, and all of it goes by the second. */

import { isNotFound } from '../../controllers/base/errors.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { faultsOf } from '../../crds/app/faults.ts'
import { APP } from '../../crds/app/kind.ts'
import { type AppSpec, spec as specSchema } from '../../crds/app/schema.ts'
import type { AppView } from '../../crds/app/view.ts'
import { fixedFaults, restPointer, toPatch } from '../../crds/kernel/rest.ts'
import { withDefaults } from '../../crds/kernel/schema.ts'
import { generationGoal } from '../command/command.ts'
import { editSpec } from '../command/edit.ts'
import { sameOwner } from '../command/own.ts'
import { removeOwn } from '../command/remove.ts'
import { settle } from '../command/settle.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { changeCommand, deleteCommand } from './commands.ts'
import { storePassword } from './create.ts'
import type { AppNeeds } from './needs.ts'
import { commandOn, ownRow } from './read.ts'

type Change = Record<string, unknown>

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

export const patchApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownRow(deps, request)
  const { password, ...body } = request.body as { password?: string } & Change
  const change = toPatch(APP, body)
  // The objects are replaced whole, so that a PATCH can leave a part of one away.
  for (const field of ['route', 'budget'] as const) {
    const keys = Object.keys(specSchema.properties[field].properties)
    const given = change[field]
    if (typeof given === 'object' && given !== null) {
      change[field] = { ...Object.fromEntries(keys.map((key) => [key, null])), ...given }
    }
  }
  return settle(deps, request, changeCommand, {
    ...commandOn(row),
    async act() {
      if (password !== undefined) change.passwordVersion = await storePassword(deps, row.name, password)
      return generationGoal((await write(deps, row, change)).metadata)
    },
  })
}

/** What is kept of the volumes is the caller's to say, when there are any. */
const volumesChoice = (row: MirrorRow<AppView>, given: string | undefined): 'keep' | 'delete' => {
  if (given === 'keep' || given === 'delete') return given
  const volumes = row.view.volumes
  if (volumes.length === 0) return 'delete'
  throw new Problem('VOLUMES_AT_RISK', `The app has the volumes ${volumes.join(', ')}.`)
}

export const deleteApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownRow(deps, request)
  if ((await deps.apps.open(row.name)).length > 0) {
    throw new Problem('OPERATION_RUNNING', `An operation of ${row.name} waits or runs.`)
  }
  const volumesOnDelete = volumesChoice(row, request.query.volumes)
  return settle(deps, request, deleteCommand, {
    ...commandOn(row),
    async act() {
      await editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, () => ({ volumesOnDelete }))
        .then(() => removeOwn(deps, APP, row))
        .catch((error) => {
          if (!isNotFound(error)) throw error
        })
      return { uid: row.uid }
    },
  })
}
