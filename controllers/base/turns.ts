/** Long lists in parts, each in a turn of the event loop of its own, so that health, lease and everybody else come in between. */

/** A few milliseconds of what is cheap for one. */
const PER_TURN = 500

/**
 * The first part at once.
 * @param each is called for each item, in order
 * @param isOver asked before each later part: nothing more is done
 */
export const inTurns = <T>(items: readonly T[], each: (item: T) => void, isOver: () => boolean): void => {
  const part = (from: number): void => {
    for (const item of items.slice(from, from + PER_TURN)) each(item)
    const next = from + PER_TURN
    if (next < items.length) setImmediate(() => isOver() || part(next))
  }
  part(0)
}
