import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensurePackages } from '../../../hack/lib/apt.ts'

/** What shellcheck says of a text, as `line:column: level: words [SC1234]`. */

const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/bin']
const SHELLCHECK = { name: 'shellcheck', files: FOLDERS.map((folder) => join(folder, 'shellcheck')) }

/** Installs it where it is missing. @throws Refusal that says how, where that is not possible */
export const ensureShellcheck = (): void => ensurePackages([SHELLCHECK], { what: 'The check of shell scripts' })

/** @param excluded codes that are not looked for */
export const shellFaultsOf = (text: string, excluded: readonly string[]): string[] => {
  const args = ['--norc', '--shell=sh', '--format=gcc', ...excluded.map((code) => `--exclude=${code}`), '-']
  const { status, stdout, error } = spawnSync('shellcheck', args, { input: text, encoding: 'utf8' })
  if (error || (status !== 0 && status !== 1)) throw error ?? new Error(`shellcheck ended with ${status}`)
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/^-:/, '')]))
}
