/**
 * What is open at an app (WebSockets, event streams, whatever else takes long) was let in when it began. It ends once whoever opened it
 * would be refused (rules/app.md#what-is-open). Pure.
 */
import type { AppSpec } from '../../schema.ts'
import type { AppStep } from '../../steps.ts'
import type { AppWorld } from '../../world.ts'
import type { LetIn, LetInNote, Opener } from './letin.ts'
import { openPlaces, stayingIn } from './staying.ts'

/**
 * The gate goes by what it knew a second ago, and by a mirror that is written at the end of a pass: who was cut off and comes back at
 * once may be let in. So it is done a second time, when nobody can be any more: so long after that mirror was written.
 */
export const OPEN_AGAIN_MS = 1_500
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
  const end = (whose: Opener[], note: LetInNote): AppStep[] => [
    { do: 'endOpen', whose, note, places: openPlaces(world) },
  ]
  if (known === null) return end([], { ...letIn, again: [], at })
  const refused = refusedSince(known, letIn)
  const isDue = known.at !== null && now.getTime() - Date.parse(known.at) >= OPEN_AGAIN_MS
  const whose = union(refused, isDue ? known.again : [])
  if (whose.length === 0 && isSame(known, letIn)) return []
  const again = union(refused, isDue ? [] : known.again)
  // What waits for its second time does so from when it was first done.
  const stays = stayingIn(known, world)
  return end(whose, { ...letIn, again, at: refused.length === 0 ? known.at : null, ...(stays && { stays }) })
}

/** When something is to be ended once more (ISO), if anything is. */
export const openAgainAt = ({ route }: Pick<AppWorld, 'route'>, now: Date): string[] => {
  const known = route?.letIn
  if (!known || known.again.length === 0) return []
  const atMs = known.at === null ? now.getTime() + TOLD_WITHIN_MS : Date.parse(known.at)
  return [new Date(atMs + OPEN_AGAIN_MS).toISOString()]
}

/** What to keep on record once the mirror of this world is written: the second time counts from now. Null where none waits for that. */
export const toldNote = ({ route }: Pick<AppWorld, 'route'>, now: Date): LetInNote | null => {
  const known = route?.letIn
  return known && known.again.length > 0 && known.at === null ? { ...known, at: now.toISOString() } : null
}
