/** The fixed scripts that hosts are sent, as files beside this one, which shellcheck reads as they are. */
import { readFileSync } from 'node:fs'

/** What stands at the head of a file is for whoever reads it, not for the host. */
const HEAD = /^(?:#.*\n)+/

/** The text of `scripts/<name>.sh`, without the comment at its head. Read once, when we start. @throws where there is none */
export const textOf = (name: string): string =>
  readFileSync(new URL(`scripts/${name}.sh`, import.meta.url), 'utf8').replace(HEAD, '')

/** A script that is one file, by its name. */
export const scriptOf = (name: string): { name: string; text: string } => ({ name, text: textOf(name) })
