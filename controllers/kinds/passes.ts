/** The passes over every kind, and what has resources looked at. */
import { setTimeout as sleep } from 'node:timers/promises'
import { keyOf, PAUSED } from '../../crds/kernel/object.ts'
import type { Cache } from '../kube/watch.ts'
import type { Gone } from '../runtime/contract.ts'
import type { RunningController } from '../runtime/controller.ts'
import type { QueueLane } from '../runtime/lanes.ts'
import type { Context } from './context.ts'
import type { AnyResource, Caches } from './held.ts'
import { follow } from './kind-controller.ts'
import { CONTROLS, GOING_ON } from './list.ts'

const IDLE_POLL_MS = 20
const LOOK_LIMIT_MS = 60_000

export type Passes = {
  /** Resources that wait for a pass, and passes under way. */
  busy(): number
  /** Out of the watch. */
  find(kind: string, name: string): AnyResource | undefined
  /** @param lane `asked` when left out */
  wake(kind: string, name: string, lane?: QueueLane): void
  /** A row may be about what is no resource, or none any more; and no pass is made over one that is paused. */
  wakeHeld(kind: string, name: string): void
  /** Nobody waits for any of them. */
  wakeAll(): void
  forget(kind: string, name: string, how: Gone): void
  start(context: Context): void
  /** Resolves once nothing waits and nothing runs. @throws when that takes too long */
  settled(): Promise<void>
  /** Starts none any more; those under way may end until the deadline. */
  stop(deadlineMs: number): Promise<void>
}

export const makePasses = (caches: Pick<Caches, 'byKind' | 'followers'>, namespace: string): Passes => {
  const running = new Map<string, RunningController>()
  const ends: (() => void)[] = []
  const busy = () => [...running.values()].reduce((sum, controller) => sum + controller.busy(), 0)
  const find = (kind: string, name: string) => caches.byKind.get(kind)?.get(keyOf({ namespace, name }))
  const wake: Passes['wake'] = (kind, name, lane) => running.get(kind)?.wake(keyOf({ namespace, name }), lane)
  return {
    busy,
    find,
    wake,
    wakeHeld: (kind, name) => {
      const held = find(kind, name)
      // one that was lost may go on without a resource: its pass knows
      if (held ? held.metadata.annotations?.[PAUSED] !== 'true' : GOING_ON.has(kind)) wake(kind, name)
    },
    wakeAll: () => {
      for (const [kind, cache] of caches.byKind) {
        for (const { metadata } of cache.list()) wake(kind, metadata.name, 'routine')
      }
    },
    forget: (kind, name, how) => running.get(kind)?.forget(keyOf({ namespace, name }), how),
    start: (context) => {
      for (const control of CONTROLS) {
        const { kind } = control.kind
        const controller = control.start(context, caches.byKind.get(kind) as Cache<AnyResource>)
        running.set(kind, controller)
        const followers = caches.followers.get(kind) ?? []
        ends.push(follow(control, controller, { cacheOf: (other) => caches.byKind.get(other), followers }))
      }
    },
    settled: async () => {
      for (let left = LOOK_LIMIT_MS / IDLE_POLL_MS; busy() > 0; left--) {
        if (left <= 0) throw new Error(`${busy()} resources are still being worked on`)
        await sleep(IDLE_POLL_MS)
      }
    },
    stop: async (deadlineMs) => {
      for (const end of ends.splice(0)) end()
      await Promise.all([...running.values()].map((controller) => controller.stop(deadlineMs)))
    },
  }
}
