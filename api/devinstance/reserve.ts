/**
 * POST /api/devboxes: the name and a part of the cap are taken in one transaction, then the resource is written, and the
 * controllers make the row of it (rules/devinstance.md#reservation).
 */
import { bootstrapOf } from '../../crds/devinstance/bootstrap/bootstrap.ts'
import { devInstanceFaults } from '../../crds/devinstance/faults.ts'
import { DEVINSTANCE } from '../../crds/devinstance/kind.ts'
import { reservationMicroUsd } from '../../crds/devinstance/plan.ts'
import { capRefusal, nameRefusal } from '../../crds/devinstance/reserving.ts'
import type { DevInstanceSpec } from '../../crds/devinstance/schema.ts'
import { PRICING_VERSION } from '../../crds/devinstance/sizing/prices.ts'
import { toSpec } from '../../crds/kernel/rest.ts'
import { makeOwn, underOwnName } from '../command/make.ts'
import { namesFor } from '../command/name.ts'
import { settle } from '../command/settle.ts'
import { layingReady } from '../command/written.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { commandOn } from './call.ts'
import { reserveCommand } from './commands.ts'
import { budgetOf } from './find.ts'
import type { DevInstanceNeeds } from './needs.ts'

/** @throws Problem CAP_EXCEEDED, NAME_TAKEN @returns whether it was taken by this call */
const reserve = async (
  deps: DevInstanceNeeds,
  request: ApiRequest,
  id: string,
  spec: DevInstanceSpec,
): Promise<boolean> => {
  const { account, profile } = request.caller
  const name = spec.name ?? id
  const { capMicroUsd } = await budgetOf(deps, account, profile)
  const committedMicroUsd = reservationMicroUsd(spec, PRICING_VERSION)
  const price = { committedMicroUsd, capMicroUsd, pricingVersion: PRICING_VERSION }
  const reservation = { resource: id, account, name, ...price, at: deps.now().toISOString() }
  const { outcome, others } = await deps.devInstances.reserve(reservation)
  if (outcome === 'reserved' || outcome === 'held') return outcome === 'reserved'
  const { code, detail } = outcome === 'NAME_TAKEN' ? nameRefusal(name) : capRefusal({ ...price, others })
  throw new Problem(code, `${detail}.`)
}

const refuseLargeBootstrap = (name: string, { arch, agents, repo }: DevInstanceSpec): void => {
  const bootstrap = bootstrapOf({ name, arch, agents, repo })
  if (!bootstrap.ok) throw new Problem(bootstrap.code, bootstrap.detail)
}

const make = async (
  deps: DevInstanceNeeds,
  request: ApiRequest,
  id: string,
  spec: DevInstanceSpec,
): Promise<Answer> => {
  refuseLargeBootstrap(spec.name ?? id, spec)
  return settle(deps, request, reserveCommand, {
    ...commandOn(id, { account: spec.account }),
    act: () =>
      layingReady({
        lay: () => reserve(deps, request, id, spec),
        use: async () => ({ uid: (await makeOwn(deps, DEVINSTANCE, { name: id, spec })).object.metadata.uid }),
        giveBack: async (taken) => taken && deps.devInstances.release(id),
      }),
  })
}

export const reserveDevInstance = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const spec = toSpec<DevInstanceSpec>(DEVINSTANCE, request.body, { account: request.caller.account })
  refuseFaults(devInstanceFaults(spec))
  return underOwnName(namesFor(deps.keys, 'dev', request), (id) => make(deps, request, id, spec))
}
