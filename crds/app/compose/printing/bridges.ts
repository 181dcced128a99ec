/** The network of an app as the host's packet filter knows it: by the name of its bridge. */
import { createHash } from 'node:crypto'

/** Whatever begins so is an app's, and kept from all else (controllers/kinds/host/scripts/guard.sh). */
const PREFIX = 'bt-'
/** A link's name has at most 15 characters. */
const DIGITS = 12

/** @param origin of the app, so that two installations on one machine have no bridge in common @param network its name on the host */
export const bridgeOf = (origin: string, network: string): string =>
  PREFIX +
  createHash('sha256')
    .update(JSON.stringify([origin, network]))
    .digest('hex')
    .slice(0, DIGITS)
