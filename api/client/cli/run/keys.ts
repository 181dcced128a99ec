/** Public keys of the account, from the files that ssh-keygen writes. */
import { basename } from 'node:path'
import { readPublicKey } from '../../../../crds/text/sshkeys.ts'
import type { Flags } from '../args.ts'
import { type CommandContext, readSecret } from '../context.ts'
import { type ExitCode, RefusedByApi, UsageFault } from '../net/outcome.ts'
import { runGeneric } from './generic.ts'

const NAME_CHARS_MAX = 100

/** Asks as if what was found out of the first argument had been typed in its place. */
const asking = (context: CommandContext, name: string, found: string, flags: Flags = {}): Promise<ExitCode> => {
  const command = { ...context.command, args: [{ name, optional: false, rest: false }] }
  return runGeneric({
    ...context,
    command,
    flags: { ...context.flags, ...flags },
    words: [found, ...context.words.slice(1)],
  })
}

/** What it is called where nobody says it: its comment, which ssh-keygen makes of user and machine; else its file. */
const nameOf = (text: string, file: string): string => {
  const [, , ...comment] = text.trim().split(/[ \t]+/)
  const called = comment.join(' ') || (file === '-' ? '' : basename(file).replace(/\.pub$/, ''))
  if (called === '') throw new UsageFault('What came in has no comment to call it by: say --name NAME.')
  return called.slice(0, NAME_CHARS_MAX)
}

/** It is read before it is sent: who types the name of the private key, which lies beside it, sends it to nobody. */
export const runKeyAdd = async (context: CommandContext): Promise<ExitCode> => {
  const { flags, surroundings, terminal, words } = context
  const [file] = words
  if (file === undefined) throw new UsageFault('Which key? Say the file of the public one, or - for what comes in.')
  const text = await readSecret(surroundings, file)
  const read = readPublicKey(text)
  if (!read.ok) throw new UsageFault(`${file} is no public key that logs in: ${read.detail}.`)
  const exitCode = await asking(context, 'public_key', read.line, { name: flags.name ?? nameOf(text, file) })
  if (!terminal.isJson) terminal.say('Each machine that it opens has it from its next report, within a minute.')
  return exitCode
}

type KnownKey = { id: string; name: string; fingerprint: string }

/** @throws UsageFault, RefusedByApi */
const keyId = async ({ api, command }: CommandContext, word: string): Promise<string> => {
  const path = command.operation.path.replace(/\/\{id\}$/, '')
  const known: KnownKey[] = (await api.call({ method: 'GET', path })).body?.ssh_keys ?? []
  const [first, ...more] = known.filter(({ id, name, fingerprint }) => [id, name, fingerprint].includes(word))
  if (!first) {
    const detail = `This account has no public key ${JSON.stringify(word.slice(0, 80))}.`
    throw new RefusedByApi({ status: 404, code: 'NOT_FOUND', detail, next: 'bottega keys list lists them.' })
  }
  if (more.length === 0) return first.id
  const ids = [first, ...more].map(({ id }) => id).join(' or ')
  throw new UsageFault(`More than one is called ${word}: say its id, ${ids}.`)
}

export const runKeyRemove = async (context: CommandContext): Promise<ExitCode> => {
  const [word] = context.words
  if (word === undefined) throw new UsageFault('Which key? Say its name; bottega keys list lists them.')
  if (context.flags.yes !== true) throw new UsageFault('keys remove locks out whoever logs in with it; say --yes.')
  return asking(context, 'id', await keyId(context, word))
}
