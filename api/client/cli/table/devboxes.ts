/** The commands of dev instances. Those of people come first; `devbox protocol …` is what a provisioner says. */
import type { DescribedField } from './described.ts'
import type { CommandRow, Surface } from './table.ts'

const text = (name: string, description: string): DescribedField => ({ name, type: 'string', description })
const flag = (name: string, description: string): DescribedField => ({ name, type: 'boolean', description })
const all = '/api/devboxes'
const box = `${all}/{id}`
const keys = '/api/account/ssh-keys'

const LOGIN: readonly DescribedField[] = [
  text('user', 'Who logs in; dev when left out.'),
  text('identity', 'File of the private key; what the agent and ssh_config say when left out.'),
  text('ssh_port', 'The port of sshd; 22 when left out.'),
]
const ENV_FILE = text('file', 'A file of NAME=value lines; - for what comes in. Arguments can be read by others here.')

/** Reads the instance, and does the rest itself. */
const reading = (row: Omit<CommandRow, 'does'>): CommandRow => ({ ...row, does: `GET ${box}`, without: ['deleted'] })

const PEOPLE: readonly CommandRow[] = [
  {
    name: 'devbox list',
    does: `GET ${all}`,
    columns: ['name', 'state', 'sizeClass', 'publicIp', 'price.runningMonthlyUsd', 'costToDateUsd', 'owner', 'id'],
  },
  {
    name: 'devbox show',
    does: `GET ${box}`,
    by: 'box-show',
    summary: 'How a dev instance stands, what it costs, and links that open it in an editor',
    examples: ['devbox show october'],
  },
  {
    ...reading({
      name: 'devbox ssh',
      by: 'box-ssh',
      args: ['command...'],
      summary: 'Log in, or run a command there; only a host key that the registry has attested is let through',
      flags: LOGIN,
      examples: [
        'devbox ssh october',
        'devbox ssh october -- git -C repo status',
        'devbox ssh october --json -- uptime',
      ],
    }),
  },
  reading({
    name: 'devbox config',
    by: 'box-config',
    args: [],
    summary: 'A block for ssh_config, so that ssh, git, scp and editors know the dev instance by name',
    flags: LOGIN,
    examples: ['devbox config october > ~/.ssh/bottega-october', 'devbox config october --identity ~/.ssh/id_ed25519'],
  }),
  reading({
    name: 'devbox known-hosts',
    by: 'box-known-hosts',
    args: [],
    summary: 'The host keys that the registry has attested, as lines for known_hosts',
    flags: LOGIN.filter(({ name }) => name === 'ssh_port'),
    examples: ['devbox known-hosts october'],
  }),
  reading({
    name: 'devbox ports',
    by: 'box-ports',
    args: ['port...'],
    summary: 'Ports of the dev instance on this machine: as options of ssh, or with --run at once',
    flags: [flag('run', 'Forward them until it is interrupted.'), ...LOGIN],
    examples: ['devbox ports october 3000 8080:80', 'devbox ports october 3000 --run'],
  }),
  {
    name: 'devbox start',
    does: `POST ${box}/starting`,
    by: 'box-start',
    args: [],
    summary: 'Ask for a start; the provisioner does it',
    examples: ['devbox start october', 'devbox start october --dry-run'],
  },
  reading({
    name: 'devbox stop',
    by: 'box-stop',
    args: [],
    summary: 'Log in and turn it off; its disk and its address are kept, and cost',
    flags: LOGIN,
    examples: ['devbox stop october'],
  }),
  {
    name: 'devbox halt',
    does: `POST ${box}/halting`,
    by: 'box-halt',
    args: [],
    summary: 'Ask for a stop, without a login; the provisioner does it',
    examples: ['devbox halt october'],
  },
  {
    name: 'devbox resize',
    does: `POST ${box}/resizing`,
    by: 'box-resize',
    args: [],
    summary: 'Ask for another class or a larger disk; the provisioner does it',
    examples: ['devbox resize october --size-class M --dry-run', 'devbox resize october --size-class M --disk-gb 80'],
  },
  reading({ name: 'devbox env', by: 'box-env', args: [], summary: 'The names in the environment of a dev instance' }),
  {
    name: 'devbox env replace',
    does: `PUT ${box}/env`,
    by: 'box-env-replace',
    args: ['NAME=value...'],
    summary: 'Replace the whole environment; devbox env send brings it to the machine',
    flags: [ENV_FILE],
    without: ['env'],
    examples: ['devbox env replace --devbox october --file - < .env'],
  },
  {
    name: 'devbox env send',
    does: `POST ${box}/env/reveal`,
    by: 'box-env-send',
    args: [],
    summary: 'Hand the environment to the machine over SSH, where it lies in memory until it stops; for its owner',
    flags: LOGIN,
    examples: ['devbox env send october'],
  },
  {
    name: 'devbox env reveal',
    does: `POST ${box}/env/reveal`,
    args: [],
    summary: 'Show the environment, to its owner alone; it is told in the history',
  },
  { name: 'devbox reserve', does: `POST ${all}`, args: ['name'], examples: ['devbox reserve october --size-class S'] },
  { name: 'devbox events', does: `GET ${box}/events`, columns: ['at', 'kind', 'by', 'version'] },
  { name: 'devbox update', does: `PATCH ${box}` },
]

/** What a person logs in with, wherever it opens. */
const KEYS: readonly CommandRow[] = [
  { name: 'keys list', does: `GET ${keys}`, columns: ['name', 'fingerprint', 'changed_at', 'id'] },
  {
    name: 'keys add',
    does: `POST ${keys}`,
    by: 'key-add',
    args: ['file'],
    summary: 'Add a public key from its .pub file, - for what comes in; machines have it from their next report',
    without: ['public_key'],
    examples: ['keys add ~/.ssh/id_ed25519.pub', 'keys add - --name laptop'],
  },
  {
    name: 'keys remove',
    does: `DELETE ${keys}/{id}`,
    by: 'key-remove',
    args: ['name'],
    summary: 'Remove a public key by its name, id or fingerprint; machines let it in until their next report',
    examples: ['keys remove laptop --yes'],
  },
]

/** What the provisioner says, and what only it should: bottega-devbox says it by itself. */
const PROTOCOL = [
  'provisioning',
  'token',
  'finalize',
  'started',
  'stopped',
  'resized',
  'renamed',
  'eip-released',
  'terminating',
  'terminated',
  'report',
] as const

export const DEVBOX_SURFACE: Surface = {
  name: 'devboxes',
  words: 'devbox',
  under: all,
  subject: {
    word: 'devbox',
    path: box,
    list: all,
    member: 'devboxes',
    knownBy: 'name',
    drawn: 'dev',
    listedBy: 'devbox list',
  },
  secrets: [],
  rows: [
    ...PEOPLE,
    ...KEYS,
    ...PROTOCOL.map((word) => ({ name: `devbox protocol ${word}`, does: `POST ${box}/${word}` })),
  ],
}
