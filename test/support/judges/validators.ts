/**
 * The reference validators of electronic invoices: Mustang (EN 16931, Factur-X) and veraPDF (PDF/A). They are Java, pinned
 * in validators/pom.xml, and fetched from Maven Central into the user's cache at the first call.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ensurePackages } from '../../../hack/lib/apt.ts'
import { attempt } from '../../../hack/lib/command.ts'
import { withLock } from '../../../hack/lib/lock.ts'

const folder = join(import.meta.dirname, 'validators')
const pins = ['pom.xml', 'Check.java'] as const
const installTimeoutMs = 300_000
const checkTimeoutMs = 240_000

/** `faults` holds what Mustang and veraPDF have against the file, in their words; empty when both accept it. */
export type Judged = { name: string; faults: string[]; flavour: string | null }

type Answer = {
  file: string
  mustang: string
  vera: { flavour: string | null; compliant: boolean; failed: string[] } | null
}

/**
 * What the validators say of each file, in the order given; one JVM judges all. Names end in .xml or .pdf.
 * Throws when Java is not there, saying what to install.
 */
export async function validate(files: Record<string, string | Buffer>): Promise<Judged[]> {
  const classes = await ensureValidators()
  const scratch = mkdtempSync(join(tmpdir(), 'bottega-validate-'))
  try {
    const paths = Object.entries(files).map(([name, content]) => {
      writeFileSync(join(scratch, name), content)
      return join(scratch, name)
    })
    const flags = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx512m', '-cp', `${classes}/out:${classes}/lib/*`]
    const lines = run('java', [...flags, 'Check', ...paths], checkTimeoutMs)
      .trim()
      .split('\n')
    const answers = lines.map((line) => JSON.parse(line) as Answer)
    if (answers.length !== paths.length) throw new Error(`the validators judged ${answers.length} of ${paths.length}`)
    return answers.map(judgedOf)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Mustang's verdict on the whole can be valid though a part is not: each part must be, and there must be one. */
const judgedOf = ({ file, mustang, vera }: Answer): Judged => {
  const verdicts = [...mustang.matchAll(/<summary status="(\w+)"/g)].map(([, status]) => status)
  const isGood = verdicts.length > 0 && verdicts.every((status) => status === 'valid')
  const said = [...mustang.matchAll(/<(?:error|exception|warning)\b[^>]*>([^<]*)</g)].map(([, words = '']) =>
    words.trim(),
  )
  const isPdf = vera === null ? [] : vera.compliant ? [] : [`veraPDF: ${vera.failed.join('; ')}`]
  return {
    name: basename(file),
    faults: [...(isGood ? [] : said.length > 0 ? said : [`Mustang: ${mustang}`]), ...isPdf],
    flavour: vera?.flavour ?? null,
  }
}

/** The folder with `lib` and `out`; two callers at once do not install twice. */
async function ensureValidators(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of pins) hash.update(readFileSync(join(folder, file)))
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const installed = join(cache, 'bottega', 'validators', hash.digest('hex').slice(0, 16))
  const inPath = (name: string) => (process.env.PATH ?? '').split(':').map((place) => join(place, name))
  const packages = [
    { name: 'default-jdk-headless', files: inPath('javac') },
    { name: 'maven', files: inPath('mvn') },
  ]
  ensurePackages(packages, { what: 'A test of electronic invoices by Mustang and veraPDF' })
  await withLock(installed, async () => {
    if (!existsSync(installed)) install(installed)
  })
  return installed
}

function install(installed: string): void {
  const growing = `${installed}.new`
  rmSync(growing, { recursive: true, force: true })
  mkdirSync(growing, { recursive: true })
  const pom = join(folder, 'pom.xml')
  run(
    'mvn',
    ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${growing}/lib`],
    installTimeoutMs,
  )
  const sources = ['-encoding', 'UTF-8', '-cp', `${growing}/lib/*`, '-d', `${growing}/out`, join(folder, 'Check.java')]
  run('javac', sources, installTimeoutMs)
  renameSync(growing, installed)
}

function run(program: string, words: string[], timeoutMs: number): string {
  const { ok, stdout, stderr } = attempt(program, words, { timeoutMs })
  if (!ok) throw new Error(`${program} failed: ${`${stdout}\n${stderr}`.slice(-2000)}`)
  return stdout
}
