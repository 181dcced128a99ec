/** Whom an app lets in, and for whom what is open at it was ended last (open.ts). */
import type { Access } from '../../schema.ts'

/** `password`: the version that sessions are of. `links`: how many of those that somebody came by are over. */
export type LetIn = { access: Access; password: number | null; links: number }

/** Who came by a link, or anybody else: the proxy dials so that these two can be told apart (lifecycle/route.ts). */
export type Opener = 'link' | 'other'

/**
 * What the host could not end (staying.ts). `since`: when that was found first, and `last`: when last (ISO), where that was later. `places`:
 * where it is open, each `HOST/ADDRESS:PORT`.
 */
export type StaysOpen = { whose: Opener[]; since: string; last?: string; why: string; places: string[] }

/**
 * For whom what is open was ended last. `again`: whose is to be ended once more. `at`: since when nobody else is let in (ISO); null until what
 * the gate goes by is written, from which the second time is counted (open.ts). `stays`: what was not ended. `tries`: how often its host has
 * failed at it, one after the other.
 */
export type LetInNote = LetIn & { again: Opener[]; at: string | null; stays?: StaysOpen; tries?: number }
