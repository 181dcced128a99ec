/**
 * The rules of rows that are there so that nothing is lost: what is reported in their states is out of order, and always on record.
 * Source: rules/devinstance.md#reports-and-requests.
 */
import type { Trigger } from '../protocol.ts'
import type { Guard, TransitionContext } from './context.ts'
import { toldOf } from './entry.ts'
import { extentOf, guard } from './guards.ts'
import type { ResizeIntent } from './row.ts'

/** Rows of what comes late or out of order have it. It is always broken. */
export const inOrder = <T extends Trigger>(): Guard<T> =>
  guard<T>(
    {
      code: 'WRONG_STATE',
      rule: 'it is reported in the order of the protocol',
      reason: 'a state is reached by the confirmation that proves it',
      actor: 'provisioner',
    },
    ({ instance, said }) => withTold(`it was said of an instance that is ${instance.state}`, said),
  )

const withTold = (words: string, said: object): string => [words, toldOf(said)].filter((one) => one !== '').join(': ')

/** Rows of a tombstone have it. Broken unless it is known already. @param isKnown nothing when left out */
export const notDeleted = <T extends Trigger>(isKnown?: (context: TransitionContext<T>) => boolean): Guard<T> =>
  guard<T>(
    {
      code: 'NOT_FOUND',
      rule: 'nothing is said of one that was deleted',
      reason: 'of what was confirmed gone something was seen: it costs, and has an owner who must hear of it',
      actor: 'provisioner',
    },
    (context) =>
      isKnown?.(context) ? null : withTold(`it was deleted at ${context.instance.deletedAt}`, context.said as object),
  )

/** The document: started must not be used to bypass a pending resize. Always broken, in rows that have it. */
export const noBypass = guard<'started'>(
  {
    code: 'RESIZE_PENDING',
    rule: 'a start does not bypass a resize that is under way',
    reason: 'nobody would know which size runs',
    actor: 'provisioner',
  },
  ({ instance }) => {
    const { from, to } = instance.intent as ResizeIntent
    return `a resize from ${extentOf(from)} to ${extentOf(to)} is under way`
  },
)

/** The document: a resized confirmation requires a pending intent. Always broken, in rows that have it. */
export const wasAnnounced = guard<'resized'>(
  {
    code: 'NO_RESIZE_INTENT',
    rule: 'a resize was announced before it is confirmed',
    reason: 'the price was judged by what was announced',
    actor: 'provisioner',
  },
  ({ instance, said }) =>
    `the instance is ${instance.state} in ${extentOf(instance)}, no resize was announced, and this was confirmed: ${toldOf(said)}`,
)
