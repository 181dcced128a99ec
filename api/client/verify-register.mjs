#!/usr/bin/env node
/**
 * Checks an export of the numbering register without trusting whoever made it: recomputes the chain of hashes from the
 * figures themselves and says which entry is missing, moved or altered. One file, no dependency, Node 20 or later.
 *
 *   node verify-register.mjs EXPORT [--since EARLIER_EXPORT]
 *
 * EXPORT is what GET /api/invoices/numbering/export answered, or `-` for what comes in. An earlier export that you kept
 * proves that nothing of it was rewritten since: whoever rewrites a whole register, head and all, cannot rewrite your copy.
 * Exits with 0 when everything holds, 1 when something does not, 2 when it cannot be read.
 *
 * The chain: hash = sha256( prev_hash \n number \n resource \n kind \n total_cents \n currency \n issued_at ), in UTF-8 and
 * in lower-case hex; the first prev_hash of a series is the sha256 of the id of the series. Of an entry that does not say
 * `issued`, two lines more are hashed: … \n entry \n reference.
 *
 * Numbers are 1..n: each is issued, restored (given back after an older copy of the database) or lost (set aside), at
 * step 0. What was amended, voided or credited later stands behind the newest number of its time, at steps 1, 2, ….
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex')
const HASHED = ['number', 'resource', 'kind', 'total_cents', 'currency', 'issued_at']

const NUMBERED = ['issued', 'restored', 'lost']
const LATER = ['amended', 'voided', 'credited']

/** Exports of before had nothing but numbers that were issued, and did not say so. */
const saysOf = ({ entry = 'issued', step = 0, reference = '' }) => ({ entry, step, reference })

const hashOf = (entry, before) => {
  const { entry: word, reference } = saysOf(entry)
  const lines = [before, ...HASHED.map((field) => entry[field]), ...(word === 'issued' ? [] : [word, reference])]
  return sha256(lines.map(String).join('\n'))
}

/** The number ends in its place: four digits, more when they are needed. */
const endsInPlace = ({ number, seq }) => String(number).endsWith(`-${String(seq).padStart(4, '0')}`)

class Unreadable extends Error {}

const parseLine = (line, at) => {
  try {
    const value = JSON.parse(line)
    if (typeof value === 'object' && value !== null && typeof value.series === 'string') return value
  } catch {}
  throw new Unreadable(`line ${at + 1} is no line of an export`)
}

/** Series by id: what its line states of it, and its entries in the order of the file. */
const read = (text) => {
  const series = new Map()
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const value = parseLine(line, at)
    const known = series.get(value.series) ?? { stated: null, entries: [] }
    series.set(value.series, known)
    if (value.type === 'series' && known.stated === null) known.stated = value
    else if (value.type === 'entry') known.entries.push(value)
    else throw new Unreadable(`line ${at + 1} is neither an entry nor the first statement of a series`)
  }
  if (series.size === 0) throw new Unreadable('there is no series in it')
  return series
}

/** What is wrong with the place of an entry; `at` is how far the chain has come. */
const placeFaultOf = (entry, name, { seq, step, numbers }) => {
  const said = saysOf(entry)
  if (LATER.includes(said.entry)) {
    if (entry.seq !== seq || said.step !== step + 1)
      return `${name} is out of order: step ${seq}.${step + 1} was to come`
    return numbers.get(entry.number) === entry.resource ? null : `${name} tells of a number that was not given`
  }
  const expected = seq + 1
  if (!NUMBERED.includes(said.entry) || said.step !== 0) return `${name} says nothing that is known`
  if (entry.seq > expected) return `place ${expected} is missing: ${name} stands there`
  if (entry.seq < expected) return `${name} is there twice, or out of order: place ${expected} was to come`
  return endsInPlace(entry) ? null : `${name} does not end in its place`
}

/** What is wrong with one entry at its place; null when nothing is. */
const faultOf = (entry, at) => {
  const { entry: word, step } = saysOf(entry)
  const name =
    step === 0 ? `${entry.number} (place ${entry.seq})` : `${word} ${entry.number} (step ${entry.seq}.${step})`
  const before = at.hash
  const misplaced = placeFaultOf(entry, name, at)
  if (misplaced !== null) return misplaced
  if ([...HASHED, 'reference'].some((field) => String(entry[field] ?? '').includes('\n')))
    return `${name} holds a line end`
  if (entry.prev_hash !== before) return `${name} does not follow the entry before it`
  if (entry.hash !== hashOf(entry, before)) return `${name} was altered: its hash is of other figures`
  return null
}

/** Faults of one series in the order of its numbers; after the first nothing that follows can be trusted. */
const check = (id, { stated, entries }) => {
  if (stated === null) return [`${id}: its statement (count, last, head_hash) is missing`]
  const at = { seq: stated.first - 1, step: 0, hash: sha256(id), numbers: new Map() }
  for (const entry of entries) {
    const fault = faultOf(entry, at)
    if (fault !== null) return [`${id}: ${fault}`]
    const { step } = saysOf(entry)
    Object.assign(at, { seq: entry.seq, step, hash: entry.hash })
    if (step === 0) at.numbers.set(entry.number, entry.resource)
  }
  const faults = []
  if (entries.length !== stated.count)
    faults.push(`${id}: ${stated.count} entries are stated, ${entries.length} are there`)
  if (at.seq !== stated.last) faults.push(`${id}: the last place is stated as ${stated.last}, it is ${at.seq}`)
  if (at.hash !== stated.head_hash) faults.push(`${id}: the head that is stated is not the hash of the last entry`)
  return faults
}

/** What an earlier export has and this one has not, or has otherwise. */
const compare = (earlier, now) => {
  const faults = []
  for (const [id, { entries }] of earlier) {
    const held = now.get(id)?.entries ?? []
    const at = entries.findIndex((entry, place) => entry.hash !== held[place]?.hash)
    if (at < 0) continue
    const was = entries[at].number
    faults.push(
      held[at] === undefined
        ? `${id}: ${was} was in the earlier export and is gone`
        : `${id}: ${was} was rewritten since the earlier export`,
    )
  }
  return faults
}

/** What stands in a series that holds: numbers that were restored or lost, and what became of others, by their words. */
const told = (entries) => {
  const count = (word) => entries.filter((entry) => saysOf(entry).entry === word).length
  const others = ['restored', 'lost', ...LATER]
    .filter((word) => count(word) > 0)
    .map((word) => `${count(word)} ${word}`)
  const last = entries.findLast((entry) => saysOf(entry).step === 0)?.number ?? 'none yet'
  return `${entries.length} entries${others.length > 0 ? ` (${others.join(', ')})` : ''}, the last is ${last}`
}

/** The two files that are named. */
const filesOf = (args) => {
  const at = args.indexOf('--since')
  const [file, ...rest] = at < 0 ? args : args.toSpliced(at, 2)
  const earlier = at < 0 ? undefined : args[at + 1]
  if (file === undefined || rest.length > 0 || (at >= 0 && earlier === undefined)) {
    throw new Unreadable('usage: node verify-register.mjs EXPORT [--since EARLIER_EXPORT]')
  }
  return { file: file === '-' ? 0 : file, earlier }
}

const main = () => {
  const files = filesOf(process.argv.slice(2))
  const now = read(readFileSync(files.file, 'utf8'))
  const earlier = files.earlier === undefined ? new Map() : read(readFileSync(files.earlier, 'utf8'))
  const faults = []
  for (const [id, held] of now) {
    const found = check(id, held)
    if (found.length === 0) console.log(`holds  ${id}: ${told(held.entries)}`)
    faults.push(...found)
  }
  for (const [id, held] of earlier) faults.push(...check(id, held).map((fault) => `in the earlier export, ${fault}`))
  faults.push(...compare(earlier, now))
  for (const fault of faults) console.log(`WRONG  ${fault}`)
  const entries = [...now.values()].reduce((sum, held) => sum + held.entries.length, 0)
  console.log(
    `${now.size} series, ${entries} entries, ${faults.length === 0 ? 'all of it holds' : `${faults.length} faults`}`,
  )
  return faults.length === 0 ? 0 : 1
}

try {
  process.exitCode = main()
} catch (error) {
  console.error(error instanceof Unreadable || error.code ? error.message : error)
  process.exitCode = 2
}
