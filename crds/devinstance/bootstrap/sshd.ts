/**
 * How sshd must be set on a dev instance: what the bootstrap writes, and what finalize demands of `sshd -T`. One list for both.
 * Source: rules/devinstance.md#settings-of-sshd; sshd_config(5).
 */
import { DEV_USER } from './places.ts'

/** sshd takes the first value it reads, and cloud-init writes 50-cloud-init.conf: ours sorts before it. */
export const SSHD_DROP_IN = '/etc/ssh/sshd_config.d/01-bottega.conf'

/** `atMost`: a smaller number is as good, but not 0, which lifts the limit. */
export type SshdSetting = { keyword: string; value: string; atMost?: true }

export const SSHD_SETTINGS: readonly SshdSetting[] = [
  { keyword: 'PasswordAuthentication', value: 'no' },
  { keyword: 'KbdInteractiveAuthentication', value: 'no' },
  { keyword: 'PermitRootLogin', value: 'no' },
  { keyword: 'PermitEmptyPasswords', value: 'no' },
  { keyword: 'PubkeyAuthentication', value: 'yes' },
  { keyword: 'AuthenticationMethods', value: 'publickey' },
  { keyword: 'HostbasedAuthentication', value: 'no' },
  { keyword: 'GSSAPIAuthentication', value: 'no' },
  { keyword: 'PermitUserEnvironment', value: 'no' },
  { keyword: 'X11Forwarding', value: 'no' },
  { keyword: 'AllowAgentForwarding', value: 'no' },
  // editors reach their server on the dev instance this way
  { keyword: 'AllowTcpForwarding', value: 'local' },
  { keyword: 'MaxAuthTries', value: '4', atMost: true },
  { keyword: 'LoginGraceTime', value: '30', atMost: true },
  { keyword: 'AllowUsers', value: DEV_USER },
]

/** The text of the drop-in. */
export const sshdDropIn = (): string => SSHD_SETTINGS.map(({ keyword, value }) => `${keyword} ${value}\n`).join('')
