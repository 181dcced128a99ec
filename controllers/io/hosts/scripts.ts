/** The fixed scripts that hosts are sent, as files beside those who send them, which shellcheck reads as they are. */
import { readFileSync } from 'node:fs'

/** What stands at the head of a file is for whoever reads it, not for the host. */
const HEAD = /^(?:#.*\n)+/

/** Gives the text of `<name>.sh` in a folder, without the comment at its head. Read once, when we start. @throws where there is none */
export const readScripts =
  (folder: URL) =>
  (name: string): string =>
    readFileSync(new URL(`${name}.sh`, folder), 'utf8').replace(HEAD, '')

export const textOf = readScripts(new URL('scripts/', import.meta.url))

/** A script that is one file, by its name. */
export const scriptOf = (name: string): { name: string; text: string } => ({ name, text: textOf(name) })
