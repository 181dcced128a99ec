/**
 * What is open at an app (WebSockets, event streams, whatever else takes long) was let in when it began. It ends once whoever opened it
 * would be refused (rules/app.md#what-is-open). Pure.
 */
import type { AppSpec } from '../../schema.ts'
import type { AppStep } from '../../steps.ts'
import type { AppWorld } from '../../world.ts'
import type { LetIn, LetInNote, Opener } from './letin.ts'
import { isOpenOn, leftOpen, openPlaces, stayingIn } from './staying.ts'

/**
 * The gate goes by what it knew a second ago, and by a mirror that is written at the end of a pass: who was cut off and comes back at
 * once may be let in. So it is done a second time, when nobody can be any more: so long after that mirror was written.
 */
export const OPEN_AGAIN_MS = 1_500
/** Where its host fails at it again and again. */
export const OPEN_AGAIN_MAX_MS = 10_000
/** What the end of a pass may take: who is woken just before it is due waits another second. */
const TOLD_WITHIN_MS = 500

/** While it is public nobody is refused: what a link opened that ends meanwhile is ended once the app is private again. */
const letInOf = (
  { access, passwordVersion }: AppSpec,
  { linksEnded }: Pick<AppWorld, 'linksEnded'>,
  known: LetIn | null,
): LetIn => ({
  access,
  password: passwordVersion ?? null,
  links: access === 'public' && known !== null ? known.links : linksEnded,
})

/** How long after that it is done again. A host that fails at it is asked more seldom each time. */
const pauseMs = ({ tries = 0 }: LetInNote): number =>
  Math.min(OPEN_AGAIN_MAX_MS, OPEN_AGAIN_MS * 2 ** Math.max(0, tries - 1))

/** Whose connections nobody would let in now. A link opens what it opened before, whatever the password is. */
const refusedSince = (before: LetIn, now: LetIn): Opener[] => {
  if (now.access === 'public') return []
  const isOther = before.access === 'public' || before.password !== now.password
  return [...(isOther ? ['other' as const] : []), ...(before.links !== now.links ? ['link' as const] : [])]
}

const isSame = (a: LetIn, b: LetIn): boolean =>
  a.access === b.access && a.password === b.password && a.links === b.links

const union = (...all: Opener[][]): Opener[] => [...new Set(all.flat())]

/** After the route: what opens from then on is asked for. */
export const openSteps = (spec: AppSpec, world: AppWorld, now: Date): AppStep[] => {
  const isSwitching = world.operations.some(({ state, switchAt }) => state === 'running' && switchAt !== null)
  if (world.route === null || world.unreachable !== null || isSwitching) return []
  const { letIn: known } = world.route
  if (known === undefined) return []
  const letIn = letInOf(spec, world, known)
  const at = now.toISOString()
  const end = (whose: Opener[], note: LetInNote, left: string[] = []): AppStep[] => [
    { do: 'endOpen', whose, note, places: openPlaces(world), left },
  ]
  if (known === null) return end([], { ...letIn, again: [], at })
  const refused = refusedSince(known, letIn)
  const isDue = known.at !== null && now.getTime() - Date.parse(known.at) >= pauseMs(known)
  const pending = letIn.access === 'public' ? [] : known.again
  const whose = union(refused, isDue ? pending : [])
  if (whose.length === 0 && isSame(known, letIn)) return []
  const again = union(refused, isDue ? [] : pending)
  // What waits for its second time does so from when it was first done.
  const stays = stayingIn(known, world)
  const { tries } = known
  const since = refused.length > 0 ? { at: null } : { at: known.at, ...(tries !== undefined && { tries }) }
  // A host of before that failed at it is not asked again by itself.
  const left = leftOpen(world).filter((host) => refused.length > 0 || !isOpenOn(host, stays))
  return end(whose, { ...letIn, again, ...since, ...(stays && { stays }) }, left)
}

/** Something is to be ended once more, of an app that refuses anybody. */
const waitsAgain = (known: LetInNote | null | undefined): known is LetInNote =>
  known !== null && known !== undefined && known.access !== 'public' && known.again.length > 0

/** When something is to be ended once more (ISO), if anything is; a host that cannot be reached is not looked at sooner for it. */
export const openAgainAt = ({ route, unreachable }: Pick<AppWorld, 'route' | 'unreachable'>, now: Date): string[] => {
  const known = route?.letIn
  if (unreachable !== null || !waitsAgain(known)) return []
  const atMs = known.at === null ? now.getTime() + TOLD_WITHIN_MS : Date.parse(known.at)
  return [new Date(atMs + pauseMs(known)).toISOString()]
}

/** What to keep on record once the mirror of this world is written: the second time counts from now. Null where none waits for that. */
export const toldNote = ({ route }: Pick<AppWorld, 'route'>, now: Date): LetInNote | null => {
  const known = route?.letIn
  return waitsAgain(known) && known.at === null ? { ...known, at: now.toISOString() } : null
}
