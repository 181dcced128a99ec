/** What the policy says about one place of a compose file (rules/app.md#findings). */
import type { Fault } from '../../kernel/problem.ts'

/** Which rule speaks. A rule is what a person may look up, and what a waiver would name. */
export type ComposeRule =
  | 'syntax'
  | 'size'
  | 'unknown-key'
  | 'value'
  | 'variable'
  | 'platform-name'
  | 'other-file'
  | 'bundle'
  | 'docker-socket'
  | 'host-access'
  | 'host-namespace'
  | 'host-mount'
  | 'host-port'
  | 'privileges'
  | 'read-only'
  | 'outside-network'
  | 'outside-volume'
  | 'outside-secret'
  | 'remote-build'
  | 'image'
  | 'architecture'
  | 'fixed-name'
  | 'labels'
  | 'one-of-each'
  | 'budget'
  | 'route'
  | 'no-effect'
  | 'volume-left'

/** `refuse` keeps the project from running; `warn` tells what will be otherwise than written. */
export type Level = 'refuse' | 'warn'

export type ComposeFinding = {
  rule: ComposeRule
  level: Level
  /** JSON pointer into the compose file, as `/services/web/privileged`. */
  pointer: string
  /** Path in the bundle, and the line in it, from 1. */
  file: string
  line: number
  /** What is wrong, with the figures. Never holds a value of the app's env. */
  detail: string
  /** What to write instead. */
  next: string
}

/** What runs otherwise than it was written, so that the rest can run as it is (rules/app.md#keep-rewrite-refuse). */
export type ComposeChange = Pick<ComposeFinding, 'rule' | 'pointer' | 'file' | 'line'> & {
  /** As it stands in the file: variables by their names. */
  from: string
  /** What runs in its place; null when nothing does. */
  to: string | null
  reason: string
}

/** The findings as REST and `Stalled` answer them. */
export const faultOf = ({ pointer, file, line, detail, next }: ComposeFinding): Fault => ({
  code: 'COMPOSE_REFUSED',
  pointer,
  detail: `${detail} (${file}, line ${line}) ${next}`,
})
