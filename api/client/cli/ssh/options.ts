/** How OpenSSH is told whom to believe: the same words on its command line and in ssh_config. Source: ssh_config(5). */
import { DEV_USER } from '../../../../crds/devinstance/bootstrap/places.ts'
import type { Flags } from '../args.ts'
import { UsageFault } from '../net/outcome.ts'
import { type BelievedBox, isUser } from './believed.ts'

/** How somebody logs in. */
export type LoginChoice = { user: string; port: number; identityFile?: string }

const SSH_PORT = 22
/** A machine that stands still does not answer: that is told soon. */
const CONNECT_SECONDS = 15
const PORT_MAX = 65_535

/** @throws UsageFault */
export const portOf = (text: string, what: string): number => {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > PORT_MAX)
    throw new UsageFault(`${what} takes a port from 1 to ${PORT_MAX}, not ${text.slice(0, 60)}.`)
  return port
}

/** What was typed of it. @throws UsageFault */
export const loginChoice = ({ user, ssh_port: port, identity }: Flags): LoginChoice => {
  if (typeof user === 'string' && !isUser(user)) {
    throw new UsageFault(`--user takes the name of a user, not ${JSON.stringify(user.slice(0, 60))}.`)
  }
  // a quote would end the word in ssh_config, and a line feed the line
  if (typeof identity === 'string' && (identity === '' || /["\p{Cc}]/u.test(identity))) {
    throw new UsageFault(`--identity takes a file, not ${JSON.stringify(identity.slice(0, 60))}.`)
  }
  return {
    user: typeof user === 'string' ? user : DEV_USER,
    port: typeof port === 'string' ? portOf(port, '--ssh-port') : SSH_PORT,
    ...(typeof identity === 'string' && { identityFile: identity }),
  }
}

/** A word that holds spaces; a percent sign begins a token there. */
const quoted = (path: string): string => `"${path.replaceAll('%', '%%')}"`

/**
 * Whom to believe, and no one else: nothing of the caller's own files, of DNS or of the address is asked. Said whole, for what is
 * left out is taken from his ssh_config.
 */
export const trustOptions = (
  { id }: Pick<BelievedBox, 'id'>,
  knownHosts: string,
): [keyword: string, value: string][] => [
  ['StrictHostKeyChecking', 'yes'],
  ['UserKnownHostsFile', quoted(knownHosts)],
  ['GlobalKnownHostsFile', '/dev/null'],
  ['HostKeyAlias', id],
  ['CheckHostIP', 'no'],
  ['UpdateHostKeys', 'no'],
  ['VerifyHostKeyDNS', 'no'],
  // else an answer of 127.0.0.1 would need no key at all
  ['NoHostAuthenticationForLocalhost', 'no'],
  // a connection that stands open at this address may be another machine's, from before
  ['ControlPath', 'none'],
  // OpenSSH before 8.5 has no such word
  ['IgnoreUnknown', 'KnownHostsCommand'],
  ['KnownHostsCommand', 'none'],
]

export type SshTarget = { box: BelievedBox; publicIp: string; knownHosts: string; login: LoginChoice }

/**
 * The arguments of ssh. What comes from the server stands in an option of its own or behind `--`, as the command does: ssh reads
 * options behind the host, too, unless that has ended them.
 * @param more options of this use, as `-N`
 */
export const sshArguments = (
  { box, publicIp, knownHosts, login }: SshTarget,
  command: readonly string[],
  more: readonly string[] = [],
): string[] => {
  const { user, port, identityFile } = login
  return [
    ...trustOptions(box, knownHosts).flatMap(([keyword, value]) => ['-o', `${keyword}=${value}`]),
    // an agent that holds many keys would be sent away before it comes to this one
    ...(identityFile === undefined ? [] : ['-o', 'IdentitiesOnly=yes', '-i', identityFile]),
    '-o',
    `ConnectTimeout=${CONNECT_SECONDS}`,
    ...more,
    '-p',
    String(port),
    '-l',
    user,
    '--',
    publicIp,
    ...command,
  ]
}

/** The block of ssh_config, by name and by id. */
export const configBlock = ({ box, publicIp, knownHosts, login }: SshTarget): string => {
  const { user, port, identityFile } = login
  const names = [...new Set([box.host, box.id])].join(' ')
  const lines: [string, string][] = [
    ['HostName', publicIp],
    ['Port', String(port)],
    ['User', user],
    ...(identityFile === undefined
      ? []
      : ([
          ['IdentityFile', `"${identityFile}"`],
          ['IdentitiesOnly', 'yes'],
        ] as [string, string][])),
    ...trustOptions(box, knownHosts),
  ]
  return [`Host ${names}`, ...lines.map(([keyword, value]) => `  ${keyword} ${value}`)].join('\n')
}
