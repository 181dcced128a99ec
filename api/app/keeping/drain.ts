/**
 * POST …/drain: the host takes nothing new, and each app on it is asked to move to a host that fits, or it is told why it stays. The
 * moves are operations of the apps, one each; whoever asks again is told what is left (rules/host.md#draining).
 */
import { randomBytes } from 'node:crypto'
import { isNotFound } from '../../../controllers/base/errors.ts'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { APP } from '../../../crds/app/kind.ts'
import { FORWARD_SECONDS } from '../../../crds/app/lifecycle/keeping/moving/place.ts'
import type { AppSpec } from '../../../crds/app/schema.ts'
import type { AppView } from '../../../crds/app/view.ts'
import { HOST } from '../../../crds/host/kind.ts'
import type { HostSpec } from '../../../crds/host/schema.ts'
import { freshName } from '../../../crds/kernel/fields.ts'
import { generationGoal } from '../../command/command.ts'
import { editSpec } from '../../command/edit.ts'
import { sameOwner, type Whose } from '../../command/own.ts'
import { settle } from '../../command/settle.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { type AppHost, hostsFor } from '../hosts.ts'
import type { AppNeeds } from '../needs.ts'
import { refuseManifested } from '../sources/manifest.ts'
import { type Drained, drainCommand } from './commands.ts'
import { refuseBusy, refuseMove, refuseStill } from './move.ts'

type AppRow = MirrorRow<AppView>

/** Where one may go by itself: the same class and the same owner, so that nobody is put among others unasked, and the same processor. */
const candidatesOf = async (deps: AppNeeds, row: AppRow, from: string, wanted: string | null): Promise<AppHost[]> => {
  const hosts = await hostsFor(deps, row.account)
  const here = hosts.find(({ name }) => name === from)
  const isAlike = (host: AppHost): boolean =>
    host.class === here?.class && host.arch === here.arch && (host.account === null) === (here.account === null)
  return hosts.filter(
    (host) => host.name !== from && host.ready && (wanted === null ? isAlike(host) : host.name === wanted),
  )
}

/** Enters the move, and has the app vouch for it. @returns the id of the operation */
const enterMove = async (deps: AppNeeds, row: AppRow, host: string): Promise<string> => {
  const intent = { kind: 'move', host, forwardSeconds: FORWARD_SECONDS } as const
  const id = freshName('op', randomBytes(16))
  const asked = { id, app: row.name, account: row.account, intent, at: deps.now().toISOString() }
  const decision = await deps.apps.ask(asked)
  if (decision.state === 'refused') throw new Problem(decision.refusal.code, decision.refusal.detail)
  const { operation } = decision
  const write = editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, (spec, object) => {
    refuseManifested(object, ['hostId'])
    return spec.asked >= operation.n ? null : { hostId: host, asked: operation.n }
  })
  await write.catch(async (error) => {
    if (decision.state === 'accepted') await deps.apps.takeBack(operation)
    throw error
  })
  return operation.id
}

const moved = async (deps: AppNeeds, row: AppRow, from: string, wanted: string | null): Promise<Drained> => {
  const { name: app, account } = row
  const stays = (code: string, detail: string): Drained => {
    return { app, account, state: 'stays', to: null, operation_id: null, code, detail }
  }
  const open = (await deps.apps.open(app)).find(({ intent }) => intent.kind === 'move')
  if (open?.intent.kind === 'move') {
    const { host: to } = open.intent
    return { app, account, state: 'moving', to, operation_id: open.id, code: null, detail: null }
  }
  let last = stays('NO_HOST', 'there is no other host of this class, owner and processor that takes apps')
  for (const host of await candidatesOf(deps, row, from, wanted)) {
    try {
      // Who runs the host confirms nothing for whoever owns the app.
      refuseStill(row, await refuseMove(deps, row, host), { isConfirmed: false })
      await refuseBusy(deps, row)
      const id = await enterMove(deps, row, host.name)
      return { app, account, state: 'moving', to: host.name, operation_id: id, code: null, detail: null }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      last = stays(error.code, error.message)
    }
  }
  return last
}

const missing = (id: string) => new Problem('NOT_FOUND', `There is no host ${id}.`)

/** Who runs it: its owner, or an administrator. */
const whoseHost = ({ caller }: ApiRequest): Whose =>
  caller.profile.role === 'admin' ? { because: 'role' } : { account: caller.account }

/** First nothing new comes, so that what is listed is all there is. @throws Problem NOT_FOUND */
const cordon = (deps: AppNeeds, name: string, whose: Whose) =>
  editSpec<HostSpec>(deps, { kind: HOST, name, whose }, ({ cordoned }) => (cordoned ? null : { cordoned: true })).catch(
    (error) => {
      throw isNotFound(error) ? missing(name) : error
    },
  )

export const drainHost = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { id: host = '' } = request.params
  const { host_id: wanted = null } = (request.body ?? {}) as { host_id?: string }
  const whose = whoseHost(request)
  if ((await deps.mirror.get(HOST, host, whose)) === undefined) throw missing(host)
  const place = { name: host, whose, resource: `/api/apps/hosts/${host}`, pending: { host_id: host } }
  return settle(deps, request, drainCommand, {
    ...place,
    async act() {
      const { metadata } = await cordon(deps, host, whose)
      const { apps, sites } = await deps.hosts.living(host)
      const drained: Drained[] = []
      for (const one of apps.filter(({ is_leaving: isLeaving }) => !isLeaving)) {
        const row = await deps.mirror.get(APP, one.id, sameOwner(one))
        if (row) drained.push(await moved(deps, row, host, wanted))
      }
      return { ...generationGoal(metadata), host, apps: drained, sites }
    },
  })
}
