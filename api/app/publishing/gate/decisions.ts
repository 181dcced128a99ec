/**
 * What the gate of private apps goes by, kept for a second: each request of a visitor is decided from memory, a change is seen by
 * every process within that second, and where nothing can be read the visitor is refused (rules/app.md#decisions-of-the-gate).
 */
import type { LinkStand } from '../../../../controllers/store/app/publishing/links.ts'
import type { AppView } from '../../../../crds/app/view.ts'

/** How old what a decision rests on may be. */
export const FRESH_MS = 1_000
/** Apps that are kept at once; the ones that were asked for longest ago go first. */
const APPS_MAX = 2_000
/** Sessions of links that are known to have been counted. */
const SESSIONS_MAX = 20_000

export type GateState = {
  app: Pick<AppView, 'id' | 'slug' | 'url' | 'access' | 'password_version'>
  links: ReadonlyMap<string, LinkStand>
}

export type GateDecisions = {
  /** @param load reads it; asked once for all that ask at the same time @throws what `load` throws, and nothing old is given */
  state(app: string, load: () => Promise<GateState | null>): Promise<GateState | null>
  isCounted(session: string): boolean
  noteCounted(session: string): void
  /** What was changed here is seen at once. */
  forget(app: string): void
}

type Kept = { atMs: number; state: Promise<GateState | null> }

const dropOldest = (kept: Map<string, unknown> | Set<string>, most: number): void => {
  for (const key of kept.keys()) {
    if (kept.size <= most) return
    kept.delete(key)
  }
}

/** @param nowMs a clock that never goes back */
export const makeGateDecisions = (nowMs: () => number = () => performance.now()): GateDecisions => {
  const kept = new Map<string, Kept>()
  const counted = new Set<string>()
  return {
    state(app, load) {
      const known = kept.get(app)
      if (known !== undefined && nowMs() - known.atMs < FRESH_MS) return known.state
      const state = load()
      kept.delete(app)
      // its age counts from before it was read
      kept.set(app, { atMs: nowMs(), state })
      dropOldest(kept, APPS_MAX)
      const drop = () => {
        if (kept.get(app)?.state === state) kept.delete(app)
      }
      // One that its proxy asks for is private: where it is public still its change is not written yet, and is about to be.
      state.then((found) => {
        if (found?.app.access === 'public') drop()
      }, drop)
      return state
    },
    isCounted: (session) => counted.has(session),
    noteCounted(session) {
      counted.add(session)
      dropOldest(counted, SESSIONS_MAX)
    },
    forget: (app) => void kept.delete(app),
  }
}
