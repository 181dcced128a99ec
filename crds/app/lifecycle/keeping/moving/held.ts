/** What is seen of a move that carries what an app keeps, from the step on in which that is carried (rules/app.md#volumes-that-move). */

/** `back`: the old ones run again, or never stopped. `left`: they never run again. */
export type HoldFate = 'none' | 'back' | 'left'

/** How it ends once what was begun is undone. */
export type MoveEnding = {
  state: 'succeeded' | 'failed' | 'cancelled' | 'unknown'
  code: string | null
  message: string
  log: string | null
}

/** `n`: from 1, in the order in which they were packed. */
export type PackedVolume = { n: number; name: string; bytes: number; sha256: string }

export type CarryOf<Job> = {
  /** Why the host that it leaves cannot be reached now; null when it can. */
  unreachable: string | null
  fate: HoldFate
  /** On the host that it leaves: what starts the old ones again, and what stops them and packs what they keep. */
  watch: Job
  hold: Job
  /** On the other host: what puts it into volumes there. */
  place: Job
  /** Bytes of each pack that are on the other host, in the order in which they were packed. */
  laid: readonly number[]
  /** In this pass the other host's disk took no more of it. */
  isFull: boolean
  /** Done in this pass: the old ones run again and the new ones do not, and how it is to end for that; the new ones may go on running. */
  undone: MoveEnding | null
  isKept: boolean
}
