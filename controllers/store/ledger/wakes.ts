/** Wakes by way of PostgreSQL, for when the API server cannot be told (rules/platform.md#waking). */
import type { Listener } from '../pg/listen.ts'
import type { Pg } from '../pg/pg.ts'

const CHANNEL = 'wakes'
const RING = 'select tell_wake($1, $2)'

/** Tells whoever leads to look at a resource. */
export const makeRing =
  ({ pg }: { pg: Pick<Pg, 'query'> }): ((kind: string, name: string) => Promise<unknown>) =>
  (kind, name) =>
    pg.query('tell_wake', RING, [kind, name])

/** @throws when it is no wake: the listener then counts it as one that was missed (listen.ts) */
const wokenBy = (payload: string): [kind: string, name: string] => {
  const said: unknown = JSON.parse(payload)
  if (!Array.isArray(said) || said.length !== 2) throw new Error('a notification is no wake')
  const [kind, name] = said
  if (typeof kind !== 'string' || typeof name !== 'string') throw new Error('a notification names no resource')
  return [kind, name]
}

/** What was missed is found by those who look now and then. */
export const listenForWakes = (
  { pg }: { pg: Pick<Pg, 'listen'> },
  wake: (kind: string, name: string) => void,
): Promise<Listener> => pg.listen(CHANNEL, (payload) => wake(...wokenBy(payload)))
