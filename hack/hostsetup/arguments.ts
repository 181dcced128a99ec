import { parseArgs } from 'node:util'
import { CommandRefusal, messageOf } from '../lib/refusal.ts'

export const usage = `Usage: hack/host-setup [USER@]MACHINE --key FILE.pub [--dry-run] [--ssh-port N] [--login NAME] [--class shared|isolated|owned|platform]
                       [--account NAME] [--name NAME] [--base-domain NAME] [--docker-from "REPOSITORY KEY FINGERPRINT"] [--caddy-from "…"]
       hack/host-setup --print     the script itself, for: ssh root@MACHINE 'sh -s -- --key "ssh-ed25519 …"'`

/** Passed on as they are; the script judges them. */
const PASSED = ['login', 'class', 'account', 'name', 'base-domain', 'docker-from', 'caddy-from'] as const

export type HostSetup = { do: 'print' } | { do: 'send'; ssh: string[] }

/** One word for the shell of the machine. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const parsed = (args: readonly string[]) => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        print: flag,
        'dry-run': flag,
        key: text,
        'ssh-port': text,
        login: text,
        class: text,
        account: text,
        name: text,
        'base-domain': text,
        'docker-from': text,
        'caddy-from': text,
      },
    })
  } catch (error) {
    throw new CommandRefusal(`${messageOf(error)}\n${usage}`, { exitCode: 2 })
  }
}

/** The line of a public key. @throws CommandRefusal with exit code 2 for what is none, above all for a private key */
const publicKey = (path: string, read: (path: string) => string): string => {
  const text = read(path).trim()
  if (/PRIVATE KEY/.test(text))
    throw new CommandRefusal(`${path} is a private key, which no machine is sent; name its .pub file.`, { exitCode: 2 })
  if (!/^(?:ssh|ecdsa)-\S+ \S[^\n]*$/.test(text))
    throw new CommandRefusal(
      `${path} holds no line of a public key; ssh-keygen -t ed25519 -f FILE makes one in FILE.pub.`,
      {
        exitCode: 2,
      },
    )
  return text
}

/**
 * What `hack/host-setup` was asked for: `ssh` are the arguments of ssh, whose stdin is the script.
 * @param read gives the text of a file  @throws CommandRefusal with exit code 2
 */
export const readHostSetup = (args: readonly string[], read: (path: string) => string): HostSetup => {
  const { values, positionals } = parsed(args)
  if (values.print && positionals.length === 0) return { do: 'print' }
  const [target = ''] = positionals
  const wrong = (sentence: string) => new CommandRefusal(`${sentence}\n${usage}`, { exitCode: 2 })
  if (values.print || positionals.length !== 1) throw wrong('One machine is needed, as root@green.example.net.')
  // What begins with a dash would be an option of ssh.
  if (!/^[A-Za-z0-9_][A-Za-z0-9@._:%-]*$/.test(target)) throw wrong(`${target} is no machine.`)
  const port = values['ssh-port']
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw wrong(`--ssh-port: ${port} is no number.`)
  const words = PASSED.flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [`--${name}`, value]
  })
  const key = values.key === undefined ? [] : ['--key', publicKey(values.key, read)]
  // The platform reaches it as we do, which a machine behind another does not know.
  const address = [
    '--address',
    target.slice(target.lastIndexOf('@') + 1),
    ...(port === undefined ? [] : ['--port', port]),
  ]
  const flags = values['dry-run'] ? ['--dry-run'] : []
  const command = ['sh', '-s', '--', ...[...key, ...address, ...words, ...flags].map(quoted)].join(' ')
  return { do: 'send', ssh: [...(port === undefined ? [] : ['-p', port]), '--', target, command] }
}
