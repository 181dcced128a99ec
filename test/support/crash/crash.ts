import type { AroundHost as HostAround } from '../../../controllers/io/hosts/link.ts'
import type { AroundQuery as PgAround } from '../../../controllers/store/pg/pg.ts'

/** A process that dies at one chosen call: before it is made, or after it was made and before its answer is seen. */
export type CrashPoint = {
  call: number
  when: 'before' | 'after'
  /** Calls of these names alone are counted. */
  of?: RegExp
}

/** Every call of a dead process ends with this, as if the process were not there any more. */
export class Crashed extends Error {
  override name = 'Crashed'
}

export type Life = {
  /** Stands round every SQL statement and every API call. */
  around: PgAround
  kubeAround: <T>(call: { verb: string; path: string }, run: () => Promise<T>) => Promise<T>
  /** Stands round every command and admin call to a host. */
  hostAround: HostAround
  /** What was called, in order. */
  calls: string[]
  isDead(): boolean
  /** Resolves at the crash. */
  death: Promise<void>
  /** Ends the life so many calls from now, in place of where it was to end. */
  endIn(point: CrashPoint): void
}

/** What is counted of visitors and of use comes by the clock, and in no order. */
const BY_THE_CLOCK = /^(visit_places|visit_places_stale|fold_visits|count_app_minutes)$|^ssh (visits|app-usage)$/

/** Counts the calls of one life, and ends it at the point. Without a point it lives on. */
export function makeLife(point?: CrashPoint): Life {
  const calls: string[] = []
  const { promise: death, resolve } = Promise.withResolvers<void>()
  let dead = false
  let end = point
  /** Calls that count, since it was said where it is to end. */
  let passed = 0
  const isEnd = (name: string): boolean => {
    if (end === undefined || end.of?.test(name) === false) return false
    passed += 1
    return passed - 1 === end.call
  }
  const die = (): never => {
    dead = true
    resolve()
    throw new Crashed('the process died here')
  }
  const stand = async <R>(name: string, run: () => Promise<R>): Promise<R> => {
    if (dead) throw new Crashed('the process is dead')
    const mine = isEnd(name) ? end : undefined
    calls.push(name)
    if (mine?.when === 'before') return die()
    const result = await run()
    if (mine) return die()
    // Somebody else's crash came while this call was under way: its answer is never seen.
    if (dead) throw new Crashed('the process is dead')
    return result
  }
  /** Uncounted, for it comes by the clock and in no order; the dead do not do it either. */
  const beside = async <R>(run: () => Promise<R>): Promise<R> => {
    if (dead) throw new Crashed('the process is dead')
    return run()
  }
  return {
    around: ({ name }, run) => (BY_THE_CLOCK.test(name) ? beside(run) : stand(`sql ${name}`, run)),
    // A watch is one endless call; the list before it counts.
    kubeAround: ({ verb, path }, run) =>
      verb === 'watch' ? run() : stand(`${verb} ${path.replace(/[0-9a-f]{32}/g, '…')}`, run),
    // handshakes only look, and come in no order
    hostAround: ({ name }, run) => {
      if (name === 'tls') return run()
      return BY_THE_CLOCK.test(name) ? beside(run) : stand(name, run)
    },
    calls,
    isDead: () => dead,
    death,
    endIn: (next) => {
      end = next
      passed = 0
    },
  }
}
