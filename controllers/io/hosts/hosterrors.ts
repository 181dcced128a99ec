/** What keeps a pass from working on a host, as the pass says it. */
import { StaleEpoch, Stalled, Waiting } from '../../base/errors.ts'
import { AdminReset } from './caddy.ts'
import { HostFenced } from './remote.ts'
import { ChannelLost, SshRefused, StreamRefused } from './ssh.ts'

/** How soon a host that did not answer is tried again. */
const RETRY_MS = 15_000

/** `unknown`: the command was handed over, and may have run. */
export class HostUnreachable extends Waiting {
  readonly outcome: 'unstarted' | 'unknown'
  constructor(name: string, outcome: 'unstarted' | 'unknown', detail: string) {
    super('HostUnreachable', `host ${name} does not answer (${detail}); it is tried again`, RETRY_MS)
    this.name = 'HostUnreachable'
    this.outcome = outcome
  }
}

export class HostMissing extends Stalled {
  constructor(name: string) {
    super('HOST_MISSING', `HOST_MISSING: there is no host ${name}`)
    this.name = 'HostMissing'
  }
}

export class HostNotApproved extends Stalled {
  constructor(name: string) {
    super('HOST_NOT_APPROVED', `HOST_NOT_APPROVED: host ${name} is not approved; an admin may approve it`)
    this.name = 'HostNotApproved'
  }
}

export class HostKeyChanged extends Stalled {
  constructor(name: string) {
    super(
      'HOST_KEY_CHANGED',
      `HOST_KEY_CHANGED: host ${name} shows another key than the pinned one; work on it has stopped`,
    )
    this.name = 'HostKeyChanged'
  }
}

/** @returns what an error of the connection means to a pass; any other error as it is */
export const hostErrorOf = (name: string, error: unknown): unknown => {
  if (error instanceof StreamRefused) return new AdminReset(error.message)
  if (error instanceof ChannelLost) return new HostUnreachable(name, error.outcome, error.message)
  if (error instanceof HostFenced) return new StaleEpoch(error.message)
  if (!(error instanceof SshRefused)) return error
  switch (error.fault) {
    case 'key':
      return new HostKeyChanged(name)
    case 'login':
      return new Stalled('HOST_LOGIN_REFUSED', `HOST_LOGIN_REFUSED: host ${name} refuses the private key`)
    case 'unreachable':
      return new HostUnreachable(name, 'unstarted', error.message)
    default: {
      const never: never = error.fault
      return never
    }
  }
}
