/**
 * What is the same for every kind over REST: finding a resource for whom it may be, reading it, listing, deleting it. A kind
 * gives what is its own, and gets its handlers (rules/platform.md#ownership).
 */

import { isNotFound } from '../../controllers/base/errors.ts'
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { MirrorFilter, MirrorRow } from '../../controllers/store/mirror.ts'
import type { Page } from '../../controllers/store/pg/page.ts'
import type { KindOf } from '../../crds/kernel/kind.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { pagedAnswer, pageOf } from '../openapi/paging.ts'
import type { Deps, Settling, Writing } from '../wiring/deps.ts'
import { type Asking, type Command, judgeDeletion } from './command.ts'
import { sameOwner, type Whose } from './own.ts'
import { type CommandCall, settle } from './settle.ts'
import { layingReady } from './written.ts'

type Listed = { items: readonly unknown[]; total: number; more?: object }
type Finding = Pick<Deps, 'mirror'>
type Removing = Settling & Writing & Pick<Deps, 'deletions'>
/** What a command says of the resource that it is about. */
type Called = Omit<CommandCall<unknown>, 'act' | 'operation'>

/**
 * @typeParam View of the kind, as its rows hold it
 * @typeParam Found what the caller may see of a row
 * @typeParam Needs the parts that reading takes beside the mirror
 */
export type ResourceParts<View, Found, in Needs = unknown> = {
  kind: KindRef & KindOf<View>
  /** In sentences, as `dev instance`. */
  noun: string
  /** The member of an answer that has one, as `devbox`, and that of a list. */
  one: string
  many: string
  pathOf(id: string): string
  /** Under which ground its row is looked at. */
  whose(asking: Asking): Whose
  /** Undefined where the caller may not know that it is there. */
  seen(row: MirrorRow<View>, asking: Asking): Found | undefined
  show(deps: Needs, found: Found, asking: Asking): unknown
  /** One page of what the caller may see, newest first. */
  list(deps: Needs, request: ApiRequest, page: Page): Promise<Listed>
  /** What a 202 shows of it; its view when left out. */
  pending?(row: MirrorRow<View>): unknown
}

type Reader<Needs> = (deps: Finding & NoInfer<Needs>, request: ApiRequest) => Promise<Answer>

type Removal<View> = {
  row: MirrorRow<View>
  command: Command<DeletionGoal, View>
  /** Is done first, and not where the resource is gone already. */
  before?(): Promise<unknown>
}

export type Resources<View, Found, Needs = unknown> = {
  /** @throws Problem NOT_FOUND, for what is another's too */
  find(deps: Finding, request: Pick<ApiRequest, 'params' | 'caller'>): Promise<Found>
  get: Reader<Needs>
  list: Reader<Needs>
  /** What every command on one says of it. */
  commandOn(row: MirrorRow<View>): Called
  /** Deletes this very life of it, and answers once it is gone. What refuses that is asked before. */
  delete(deps: Removing, request: ApiRequest, removal: Removal<View>): Promise<Answer>
}

export type DeletionGoal = { uid: string }

/** The command that deletes: 204 once it is gone. */
export const deleting = <View>(name: string, kind: KindRef & KindOf<View>): Command<DeletionGoal, View> => ({
  name,
  kind,
  judge: judgeDeletion,
  answer: async () => ({ status: 204 }),
})

const orGone = (error: unknown): void => {
  if (!isNotFound(error)) throw error
}

/**
 * Deletes this very life of a resource, so that whoever leads later knows that it was deleted and not lost (hack/decisions/037);
 * one that is gone already is no fault. @throws KubeError
 */
export const removeOwn = async (
  { kube, namespace, deletions }: Writing & Pick<Deps, 'deletions'>,
  kind: KindRef,
  { name, uid }: { name: string; uid: string },
): Promise<void> => {
  await layingReady({
    lay: () => deletions.ask(kind.kind, [{ name, uid }]),
    use: () => kube.delete(kind, { namespace, name }, { uid }).catch(orGone),
    giveBack: () => deletions.takeBack({ kind: kind.kind, name, uid }),
  })
}

/** @returns the handlers of a kind, and what its other handlers share with them */
export const makeResources = <View, Found, Needs>(
  parts: ResourceParts<View, Found, Needs>,
): Resources<View, Found, Needs> => {
  const { kind, noun, one, many, pathOf } = parts
  const find: Resources<View, Found>['find'] = async (deps, asking) => {
    const id = asking.params.id ?? ''
    const row = await deps.mirror.get(kind, id, parts.whose(asking))
    const found = row && parts.seen(row, asking)
    if (found === undefined) throw new Problem('NOT_FOUND', `There is no ${noun} ${id}.`)
    return found
  }
  const commandOn = (row: MirrorRow<View>): Called => ({
    name: row.name,
    whose: sameOwner(row),
    resource: pathOf(row.name),
    pending: { [one]: parts.pending ? parts.pending(row) : row.view },
  })
  return {
    find,
    commandOn,
    async get(deps, request) {
      const found = await find(deps, request)
      return { status: 200, body: { [one]: await parts.show(deps, found, request) } }
    },
    async list(deps, request) {
      const page = pageOf(request)
      return pagedAnswer(many, await parts.list(deps, request, page), page)
    },
    delete: (deps, request, { row, command, before }) =>
      settle(deps, request, command, {
        ...commandOn(row),
        async act() {
          const { name, uid } = row
          await before?.().catch(orGone)
          await removeOwn(deps, kind, { name, uid })
          return { uid }
        },
      }),
  }
}

type OwnParts<View> = Pick<ResourceParts<View, unknown>, 'kind' | 'noun' | 'one' | 'pathOf'> & {
  /** `one` with an s when left out. */
  many?: string
  /** By which the mirror narrows its lists. */
  filterOf?(query: ApiRequest['query']): MirrorFilter
  /** What lists show of a view; all of it when left out. */
  listed?(view: View): unknown
}

/** Of a kind that its account alone sees, and sees as it is: what another account has is not there at all. */
export const makeOwnResources = <View>({
  filterOf = () => ({}),
  listed = (view) => view,
  ...own
}: OwnParts<View>): Resources<View, MirrorRow<View>, Finding> =>
  makeResources<View, MirrorRow<View>, Finding>({
    many: `${own.one}s`,
    ...own,
    whose: ({ caller: { account } }) => ({ account }),
    seen: (row) => row,
    show: (_deps, { view }) => view,
    async list({ mirror }, { caller: { account }, query }, page) {
      const { rows, total } = await mirror.list({ kind: own.kind, account }, filterOf(query), page)
      return { items: rows.map(({ view }) => listed(view)), total }
    },
  })
