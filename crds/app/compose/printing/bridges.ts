/** The network of an app as the host's packet filter knows it: by the name of its bridge. */
import { createHash } from 'node:crypto'
import { originOf } from '../../../kernel/desire/desire.ts'
import type { AppResource } from '../../schema.ts'

/** Whatever begins so is an app's, and kept from all else (controllers/kinds/host/scripts/guard.sh). */
const PREFIX = 'bt-'
/** A link's name has at most 15 characters. */
const DIGITS = 12

const digestOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, DIGITS)

/** Of an app on a host: two hosts may be on one machine, and an app on both while it moves. */
export const originOn = ({ metadata, spec }: Pick<AppResource, 'metadata' | 'spec'>): string =>
  `${originOf(metadata)} ${spec.hostId}`

/** @param origin of the app on its host (`originOn`), so that two installations on one machine have no bridge in common @param network its name on the host */
export const bridgeOf = (origin: string, network: string): string => PREFIX + digestOf(origin, network)

/** What the cell that an app is built in is called on its host: `bottega-build-<cell>`, behind the bridge `bt-<cell>`. */
export const cellOf = (origin: string): string => digestOf(origin)
