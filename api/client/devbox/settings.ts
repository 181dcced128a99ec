/** What an operator sets for his cloud. Its credentials are found by the cloud's own library, and read by nobody here. */
import { UsageFault } from '../cli/net/outcome.ts'
import type { SshSettings } from './box/shell.ts'
import { makeDocker } from './cloud/docker/driver.ts'
import type { DockerSettings } from './cloud/docker/look.ts'
import type { CloudDriver } from './cloud/driver.ts'
import { type Ec2Settings, makeEc2 } from './cloud/ec2/driver.ts'

type Environment = Readonly<Record<string, string | undefined>>
/** What each is for, in the words of the help. */
type Words = Readonly<Record<string, string>>

const CALL_MS = 30_000
/** A machine in Docker is stopped within the call that stops it. */
const DOCKER_CALL_MS = 120_000
const SSH_PORT = 22

const NEEDED: Words = {
  BOTTEGA_INSTALLATION: 'a word of your own for this installation; all that it makes is tagged with it',
}
const NEEDED_BY: Readonly<Record<'ec2' | 'docker', Words>> = {
  ec2: {
    AWS_REGION: 'where machines are launched',
    BOTTEGA_EC2_SUBNET: 'the subnet that they stand in',
    BOTTEGA_EC2_SECURITY_GROUPS: 'their security groups, with commas; port 22 is all they need to let in',
    BOTTEGA_EC2_KEY_NAME: 'the key pair that opens the first login',
    BOTTEGA_EC2_IMAGE_ARM64: 'the image of arm64: Debian 13 or Ubuntu 24.04',
    BOTTEGA_EC2_IMAGE_X86_64: 'the same of x86_64',
  },
  docker: {
    BOTTEGA_DOCKER_IMAGE: 'the image of machines: a Debian with systemd, sshd and cloud-init',
    BOTTEGA_DOCKER_AUTHORIZED_KEY: 'the public key that opens the first login',
  },
}
const FURTHER: Words = {
  BOTTEGA_CLOUD: 'ec2, or docker for machines that are containers',
  BOTTEGA_SSH_IDENTITY: 'the file of the private key, where the agent does not hold it',
  BOTTEGA_METRICS_LISTEN: 'where run says how it stands, at /healthz, /readyz and /metrics: [::]:9090',
  BOTTEGA_LOG_LEVEL: 'how much run logs, in JSON on stdout: debug, info (as it is), warn or error',
  BOTTEGA_EC2_ENDPOINT: 'another address than that of EC2',
  BOTTEGA_DOCKER_SOCKET: 'the socket of Docker: /var/run/docker.sock',
  BOTTEGA_DOCKER_NETWORK: 'the network by which machines reach the world: bridge',
  BOTTEGA_DOCKER_ADDRESSES: 'what addresses are taken of, four for each: 10.83.0.0/24',
  BOTTEGA_DOCKER_LOOPBACK:
    'a folder of sockets, each called as the port under which machines have it on their loopback',
  BOTTEGA_DOCKER_REGION: 'what is told as their place: docker',
  BOTTEGA_DOCKER_ENCRYPTED: 'yes, where what Docker keeps lies on an encrypted disk; no machine is ready without it',
}

const lines = (words: Words, more: string): [string, string][] =>
  Object.entries(words).map(([name, what]) => [name, `${what}${more}`])

/** Each setting with what it is for. */
export const settingLines = (): [string, string][] => [
  ...lines(NEEDED, ''),
  ...lines(NEEDED_BY.ec2, ' (of EC2)'),
  ...lines(NEEDED_BY.docker, ' (of Docker)'),
  ...lines(FURTHER, ' (may be left out)'),
]

const demand = (env: Environment, words: Words): void => {
  const missing = lines(words, '').filter(([name]) => !env[name])
  if (missing.length > 0)
    throw new UsageFault(`Not set: ${missing.map(([name, what]) => `${name} (${what})`).join('; ')}.`)
}

const ec2SettingsFrom = (env: Environment): Ec2Settings => {
  const word = (name: string): string => env[name] ?? ''
  const endpoint = word('BOTTEGA_EC2_ENDPOINT')
  return {
    region: word('AWS_REGION'),
    installation: word('BOTTEGA_INSTALLATION'),
    ...(endpoint !== '' && { endpoint }),
    subnetId: word('BOTTEGA_EC2_SUBNET'),
    securityGroupIds: word('BOTTEGA_EC2_SECURITY_GROUPS')
      .split(',')
      .map((one) => one.trim()),
    keyName: word('BOTTEGA_EC2_KEY_NAME'),
    images: { arm64: word('BOTTEGA_EC2_IMAGE_ARM64'), x86_64: word('BOTTEGA_EC2_IMAGE_X86_64') },
    timeoutMs: CALL_MS,
  }
}

const dockerSettingsFrom = (env: Environment): DockerSettings => {
  const word = (name: string, or = ''): string => env[name] || or
  return {
    installation: word('BOTTEGA_INSTALLATION'),
    socketPath: word('BOTTEGA_DOCKER_SOCKET', '/var/run/docker.sock'),
    image: word('BOTTEGA_DOCKER_IMAGE'),
    authorizedKey: word('BOTTEGA_DOCKER_AUTHORIZED_KEY'),
    network: word('BOTTEGA_DOCKER_NETWORK', 'bridge'),
    addressRange: word('BOTTEGA_DOCKER_ADDRESSES', '10.83.0.0/24'),
    loopback: word('BOTTEGA_DOCKER_LOOPBACK'),
    region: word('BOTTEGA_DOCKER_REGION', 'docker'),
    isEncrypted: word('BOTTEGA_DOCKER_ENCRYPTED') === 'yes',
    timeoutMs: DOCKER_CALL_MS,
  }
}

/** The cloud that is asked for. @throws UsageFault naming all that is missing */
export const cloudFrom = (env: Environment): { driver: CloudDriver; installation: string } => {
  const cloud = env.BOTTEGA_CLOUD || 'ec2'
  if (cloud !== 'ec2' && cloud !== 'docker') throw new UsageFault(`BOTTEGA_CLOUD is ec2 or docker, not ${cloud}.`)
  demand(env, { ...NEEDED, ...NEEDED_BY[cloud] })
  const driver = cloud === 'ec2' ? makeEc2(ec2SettingsFrom(env)) : makeDocker(dockerSettingsFrom(env))
  return { driver, installation: env.BOTTEGA_INSTALLATION ?? '' }
}

export const sshSettingsFrom = ({ BOTTEGA_SSH_IDENTITY: identityFile }: Environment): SshSettings => ({
  ...(identityFile && { identityFile }),
  port: SSH_PORT,
})

const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal', 'trace', 'silent']

/** @throws UsageFault */
export const logLevelFrom = ({ BOTTEGA_LOG_LEVEL: level = '' }: Environment): string => {
  if (level === '') return 'info'
  if (!LEVELS.includes(level)) throw new UsageFault(`BOTTEGA_LOG_LEVEL is ${LEVELS.join(', ')}, not ${level}.`)
  return level
}
