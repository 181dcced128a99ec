/**
 * The end of a run: every secret that was noted in it is looked for in all that it wrote. One that lies where its kind may not is a
 * fault of every run; a kind of which a whole run noted none was not tested, and is a fault of that run.
 */
import { chmodSync, existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { FileResult } from '../runner/result.ts'
import { openRunFolder } from '../runner/runfolder.ts'
import { DOCUMENTS, SILENT } from './collect.ts'
import { DOCUMENT } from './documents.ts'
import { formsOf } from './forms.ts'
import { kindOf, PLACES, type Place, SECRET_NAMES, type SecretName } from './kinds.ts'
import { CANARIES_VARIABLE, type Canary } from './plant.ts'
import { type Hit, search } from './search.ts'

const prefix = '/tmp/bottega-test-canaries-'
const PLACE_NAMES = Object.keys(PLACES) as Place[]
/** What stands around a secret in the first of its hits. */
const AROUND_BYTES = 160

export type Judgement = {
  /** Everything was run, so that a kind of which there was no secret was not tested. */
  isWhole: boolean
  /** Of the parts that all tests share; null where there were none. */
  stage: string | null
}
export type Canaries = {
  /** For the test files. */
  env: Record<string, string>
  judge(how: Judgement): Promise<FileResult>
  remove(): void
}

export const openCanaries = (write: (line: string) => void = console.log): Canaries => {
  const { folder, remove } = openRunFolder(prefix)
  chmodSync(folder, 0o755) // PostgreSQL writes into it, which may be another user
  return { env: { [CANARIES_VARIABLE]: folder }, judge: (how) => judgeCanaries(folder, how, write), remove }
}

const linesOf = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

const readPlanted = (folder: string): Canary[] =>
  globSync(join(folder, 'planted', '*.jsonl')).flatMap((file) => linesOf(file).map((line): Canary => JSON.parse(line)))

/** Every form, and what it is a form of. */
type Forms = Map<string, Set<Canary>>
const makeForms = (canaries: readonly Canary[]): Forms => {
  const forms: Forms = new Map()
  for (const canary of canaries)
    for (const form of formsOf(canary)) forms.set(form, (forms.get(form) ?? new Set()).add(canary))
  return forms
}

/** Without those that are a secret of another kind as well, which may lie there. */
const strictOf = (forms: Forms, place: Place): string[] =>
  [...forms]
    .filter(([, of]) => [...of].every(({ kind }) => kindOf(kind).allowed?.[place] === undefined))
    .map(([form]) => form)

/** Bytes around a secret, without it: enough to find who wrote it. */
const around = (file: string, form: string): string => {
  const bytes = readFileSync(file)
  const at = bytes.indexOf(form)
  const before = bytes.subarray(Math.max(0, at - AROUND_BYTES), at).toString('latin1')
  const after = bytes.subarray(at + form.length, at + form.length + AROUND_BYTES / 2).toString('latin1')
  return `${before}[here]${after}`.replace(/[^ -~]+/g, ' ')
}

const sentenceOf =
  (forms: Forms, place: Place, folder: string) =>
  (hits: readonly Hit[]): string => {
    const [{ file, form }] = hits as [Hit]
    const kinds = [...new Set([...(forms.get(form) ?? [])].map(({ kind }) => kind))].join(', ')
    const more = hits.length > 1 ? `, and ${hits.length - 1} more` : ''
    return `${kinds} in ${PLACES[place]}: ${relative(folder, file)}${more}: ${around(file, form)}`
  }

/** Where a run keeps what was written in one place, and what the shared parts write there. */
const rootsOf = (folder: string, stage: string | null, place: Place): { roots: string[]; only?: string[] }[] => {
  const shared: Partial<Record<Place, { roots: string[]; only?: string[] }>> =
    stage === null
      ? {}
      : {
          log: { roots: [stage], only: ['*.log', '*.log.[0-9]'] },
          cluster: { roots: [join(stage, 'control-plane', 'etcd', 'member')] },
          mail: { roots: [stage], only: ['*.eml'] },
        }
  const kept = join(folder, 'kept', place)
  const { roots: ofStage, ...more } = shared[place] ?? { roots: [] }
  const missing = ofStage.filter((root) => !existsSync(root))
  if (missing.length > 0)
    throw new Error(`what the run wrote is to be searched, and is not there: ${missing.join(', ')}`)
  // A run that kept nothing of a place has no folder for it.
  return [{ roots: existsSync(kept) ? [kept] : [] }, { roots: ofStage, ...more }]
}

const HEADERS_CHARS = 16_384
/** Who a mail is to: one that was kept by the folder it lies in (`keepMails`), one of a catcher as it says itself, over lines. */
const recipientOf = (file: string): string => {
  if (file.includes('/kept/mail/')) return basename(dirname(file)).toLowerCase()
  const headers =
    readFileSync(file, 'latin1')
      .slice(0, HEADERS_CHARS)
      .split(/\r?\n\r?\n/)[0] ?? ''
  const lines = headers.replace(/\r?\n[ \t]/g, ' ').split(/\r?\n/)
  const to = lines.find((line) => line.toLowerCase().startsWith('to:'))
  if (to === undefined) throw new Error(`${file} does not say who it is to: ${headers.slice(0, AROUND_BYTES)}`)
  return to
    .slice(to.lastIndexOf('<') + 1 || 'to:'.length)
    .replace('>', '')
    .trim()
    .toLowerCase()
}

/** Of what may be mailed: those that lie in mails to more than may have them. */
const mailedTooFar = (forms: Forms, hits: readonly Hit[]): Hit[] => {
  const mostOf = (form: string): number =>
    Math.max(...[...(forms.get(form) ?? [])].map(({ kind }) => kindOf(kind).recipientsMax ?? 1))
  const alike = Map.groupBy(hits, ({ form }) => form)
  return [...alike].flatMap(([form, same]) =>
    new Set(same.map(({ file }) => recipientOf(file))).size > mostOf(form) ? same : [],
  )
}

/** @returns one test, or as many failures as there are faults; nothing where nothing was noted */
export async function judgeCanaries(
  folder: string,
  { isWhole, stage }: Judgement,
  write: (line: string) => void,
): Promise<FileResult> {
  const canaries = readPlanted(folder)
  if (canaries.length === 0 && !isWhole) return { passed: 0, failed: 0, skipped: 0 }
  const forms = makeForms(canaries)
  const faults: string[] = []
  let cpuSeconds = 0
  const patterns = join(folder, 'patterns')
  const look = async (wanted: Iterable<string>, place: Place): Promise<Hit[]> => {
    const hits: Hit[] = []
    for (const where of rootsOf(folder, stage, place)) {
      const searched = await search(wanted, { ...where, patterns })
      hits.push(...searched.hits)
      cpuSeconds += searched.cpuSeconds
    }
    return hits
  }
  for (const place of PLACE_NAMES) {
    const strict = strictOf(forms, place)
    const hits = await look(strict, place)
    if (place === 'mail') {
      const known = new Set(strict)
      const mailable = [...forms.keys()].filter((form) => !known.has(form))
      hits.push(...mailedTooFar(forms, await look(mailable, place)))
    }
    const alike = Map.groupBy(hits, ({ file, form }) => `${kindsOf(forms, form)} ${dirname(file)}`)
    faults.push(...[...alike.values()].map(sentenceOf(forms, place, folder)))
  }
  const planted = new Set<SecretName>(canaries.map(({ kind }) => kind))
  if (isWhole)
    for (const name of SECRET_NAMES.filter((one) => !planted.has(one)))
      faults.push(`no secret of this kind was noted: ${name}`)
  const linesNamed = (name: string): string[] =>
    globSync(join(folder, 'kept', 'database', `*-${name}`)).flatMap(linesOf)
  const silent = linesNamed(SILENT).length
  const documents = linesNamed(DOCUMENTS).filter((line) => line === DOCUMENT).length
  const cost = `${canaries.length} of ${planted.size} kinds, ${forms.size} forms, ${cpuSeconds.toFixed(1)} s of grep, ${documents} documents opened${silent > 0 ? `; ${silent} databases were not read` : ''}`
  write(`${faults.length === 0 ? '✓' : '✗'} no secret lies open: ${cost}`)
  for (const fault of faults) write(`    ${fault}`)
  const bad = faults.length === 0 ? {} : { bad: ['canaries'] }
  return { passed: faults.length === 0 ? 1 : 0, failed: faults.length, skipped: 0, ...bad }
}

const kindsOf = (forms: Forms, form: string): string =>
  [...(forms.get(form) ?? [])]
    .map(({ kind }) => kind)
    .sort()
    .join()
