/** The network of an app as the host's packet filter knows it: by the name of its bridge. */
import { createHash } from 'node:crypto'

/** Whatever begins so is an app's, and kept from all else (controllers/kinds/host/scripts/guard.sh). */
const PREFIX = 'bt-'
/** A link's name has at most 15 characters. */
const DIGITS = 12

const digestOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, DIGITS)

/** @param origin of the app, so that two installations on one machine have no bridge in common @param network its name on the host */
export const bridgeOf = (origin: string, network: string): string => PREFIX + digestOf(origin, network)

/** What the cell that an app is built in is called on its host: `bottega-build-<cell>`, behind the bridge `bt-<cell>`. */
export const cellOf = (origin: string): string => digestOf(origin)
