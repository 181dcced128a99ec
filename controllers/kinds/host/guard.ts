/**
 * The guard of a host's apps: a container that shares the host's network and holds the rules of its packet filter, from
 * programs of the host alone (hack/decisions/050); and beside it the meter of what they have on disk (064). Whoever may use
 * Docker may start them, so nothing of ours is installed as root.
 */
import { createHash } from 'node:crypto'
import { CLOSED_RANGES } from '../../../crds/host/isolation.ts'
import type { HostLink } from '../../io/hosts/link.ts'
import { readScripts, textOf as sharedTextOf } from '../../io/hosts/scripts.ts'

const textOf = readScripts(new URL('scripts/', import.meta.url))

const DEADLINE_MS = 60_000
const CLOSED = CLOSED_RANGES.join(' ')

export const GUARD = {
  name: 'guard-up',
  text: `${sharedTextOf('guarded')}${textOf('guard-up')}`,
  args: [textOf('guard'), textOf('meter')],
}

/** What both are made of: one with another digest is replaced. */
export const GUARD_DIGEST = createHash('sha256')
  .update(JSON.stringify([GUARD, CLOSED]))
  .digest('hex')
  .slice(0, 32)

/** Starts both, or leaves them as they are. @throws when the rules do not come to stand or nothing can be measured, and as HostLink.run does */
export const putGuard = async (link: HostLink): Promise<void> => {
  const { code, stderr } = await link.run({ script: GUARD, lines: [GUARD_DIGEST, CLOSED], deadlineMs: DEADLINE_MS })
  if (code !== 0) throw new Error(`the guard of the apps does not stand: ${stderr.slice(-300)}`)
}
