/** Looks for many texts in many files at once. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'

export type Hit = { file: string; form: string }
export type Searched = { hits: Hit[]; cpuSeconds: number }

/** So many hits are told; more would say the same. */
const HITS_MAX = 20_000
/** The shell tells what its children cost; grep ends with 1 where nothing is found. */
const SCRIPT = 'grep "$@"; code=$?; times >&2; exit $code'
const FLAGS = ['-raoHZsF', '--exclude-dir=docker', '--exclude-dir=pg', '--exclude-dir=made-postgres']

/** Minutes and seconds, of user and system. */
const secondsIn = (times: string): number => {
  const last = times.trim().split('\n').at(-1) ?? ''
  return [...last.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, min, sec]) => sum + Number(min) * 60 + Number(sec), 0)
}

/**
 * One pass over all files below `roots` for all `forms`, as bytes; a shorter form within a longer one is told as the longer.
 * @param patterns the file that holds the forms for grep
 * @param only names of files, as globs; all when left out
 * @throws Error where grep itself fails
 */
export const search = async (
  forms: Iterable<string>,
  { roots, patterns, only = [] }: { roots: readonly string[]; patterns: string; only?: readonly string[] },
): Promise<Searched> => {
  const all = [...forms]
  if (all.length === 0 || roots.length === 0) return { hits: [], cpuSeconds: 0 }
  writeFileSync(patterns, `${all.join('\n')}\n`)
  const args = ['-c', SCRIPT, 'grep', ...FLAGS, ...only.map((glob) => `--include=${glob}`), '-f', patterns, ...roots]
  const child = spawn('bash', args, { env: { ...process.env, LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'pipe'] })
  const found: Buffer[] = []
  let told = ''
  child.stdout.on('data', (chunk: Buffer) => found.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    told += chunk
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (code !== 0 && code !== 1) throw new Error(`grep ended with ${code}: ${told}`)
  const lines = Buffer.concat(found).toString('utf8').split('\n').slice(0, HITS_MAX)
  const hits = lines.flatMap((line) => {
    const [file = '', form] = line.split('\0')
    return form === undefined ? [] : [{ file, form }]
  })
  return { hits, cpuSeconds: secondsIn(told) }
}
