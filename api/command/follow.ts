/**
 * What goes on after its request was answered 202: the verdict is waited for and kept, so that it stands there when it is
 * asked for. It is a convenience: what is not followed, or not to its end, is judged when somebody reads the operation.
 */

/** Requests of one process that are followed at once: each looks at its row once a second. */
const FOLLOWED_MAX = 100

/** Begins the work, unless there is too much of it already. @returns whether it was begun */
export type Follow = (work: () => Promise<void>) => boolean

/** @param deps.onError told of work that failed; nothing else comes of it */
export const makeFollow = ({
  onError,
  max = FOLLOWED_MAX,
}: {
  onError(error: unknown): void
  max?: number
}): Follow => {
  let count = 0
  return (work) => {
    if (count >= max) return false
    count += 1
    void work()
      .catch(onError)
      .finally(() => {
        count -= 1
      })
    return true
  }
}
