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
 * in lower-case hex; the first prev_hash of a series is the sha256 of the id of the series.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex')
const HASHED = ['number', 'resource', 'kind', 'total_cents', 'currency', 'issued_at']

const hashOf = (entry, before) => sha256([before, ...HASHED.map((field) => String(entry[field]))].join('\n'))

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

/** What is wrong with one entry at its place; null when nothing is. */
const faultOf = (entry, expected, before) => {
  const name = `${entry.number} (place ${entry.seq})`
  if (entry.seq > expected) return `place ${expected} is missing: ${name} stands there`
  if (entry.seq < expected) return `${name} is there twice, or out of order: place ${expected} was to come`
  if (HASHED.some((field) => String(entry[field] ?? '').includes('\n'))) return `${name} holds a line end`
  if (!endsInPlace(entry)) return `${name} does not end in its place`
  if (entry.prev_hash !== before) return `${name} does not follow the entry before it`
  if (entry.hash !== hashOf(entry, before)) return `${name} was altered: its hash is of other figures`
  return null
}

/** Faults of one series in the order of its numbers; after the first nothing that follows can be trusted. */
const check = (id, { stated, entries }) => {
  if (stated === null) return [`${id}: its statement (count, last, head_hash) is missing`]
  let expected = stated.first
  let before = sha256(id)
  for (const entry of entries) {
    const fault = faultOf(entry, expected, before)
    if (fault !== null) return [`${id}: ${fault}`]
    before = entry.hash
    expected += 1
  }
  const faults = []
  if (entries.length !== stated.count)
    faults.push(`${id}: ${stated.count} entries are stated, ${entries.length} are there`)
  if (expected - 1 !== stated.last)
    faults.push(`${id}: the last place is stated as ${stated.last}, it is ${expected - 1}`)
  if (before !== stated.head_hash) faults.push(`${id}: the head that is stated is not the hash of the last entry`)
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
    const last = held.entries.at(-1)?.number ?? 'none yet'
    if (found.length === 0) console.log(`holds  ${id}: ${held.entries.length} entries, the last is ${last}`)
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
