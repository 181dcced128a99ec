/** The offline check of the register: the script alone, on files as an accountant holds them. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entryLine, type StoredEntry, seriesLine } from '../../../crds/invoice/order/numbering.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'api', 'client', 'verify-register.mjs')
const SERIES = 'demo/iss-default/invoice/2026'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hashOf = (one: Omit<StoredEntry, 'hash'>) =>
  sha256(
    [
      ...[one.prevHash, one.number, one.resource, one.kind, one.totalCents, one.currency, one.issuedAt],
      ...(one.entry === 'issued' ? [] : [one.entry, one.reference]),
    ].join('\n'),
  )

/** A register of `count` numbers, the first at `first`. */
const register = (count: number, first = 1, series = SERIES): StoredEntry[] => {
  const entries: StoredEntry[] = []
  for (let seq = first; seq < first + count; seq++) {
    const entry = {
      seq,
      step: 0,
      entry: 'issued' as const,
      number: `INV-026-${String(seq).padStart(4, '0')}`,
      resource: `inv-${seq}`,
      kind: 'invoice' as const,
      totalCents: seq * 100,
      currency: 'EUR',
      issuedAt: '2026-11-21T09:30:00.000Z',
      reference: '',
      prevHash: entries.at(-1)?.hash ?? sha256(series),
    }
    entries.push({ ...entry, hash: hashOf(entry) })
  }
  return entries
}
/** What became of the first number once the third was given, and a fourth that came after: 0001, 0002, 0003, …, 0004. */
const lived = (): StoredEntry[] => {
  const [one, two, three, four] = register(4) as [StoredEntry, StoredEntry, StoredEntry, StoredEntry]
  const later = { ...one, seq: 3, issuedAt: '2026-12-01T08:00:00.000Z' }
  return rechained([
    one,
    two,
    { ...three, entry: 'restored', reference: 'inv-3 knew it' },
    { ...later, step: 1, entry: 'amended', totalCents: 900, reference: sha256('document') },
    { ...later, step: 2, entry: 'credited', totalCents: 200, reference: 'CNINV-026-0001' },
    { ...later, step: 3, entry: 'voided', totalCents: 700, reference: '' },
    { ...four, entry: 'lost', resource: 'lost/INV-026-0004', totalCents: 0, reference: 'it may have been mailed' },
  ])
}
/** Somebody who holds the whole book writes its chain anew. */
const rechained = (entries: StoredEntry[]): StoredEntry[] => {
  let prevHash = sha256(SERIES)
  return entries.map((one) => {
    const hash = hashOf({ ...one, prevHash })
    const entry = { ...one, prevHash, hash }
    prevHash = hash
    return entry
  })
}

const fileOf = (entries: StoredEntry[], stated: Partial<Parameters<typeof seriesLine>[0]> = {}): string => {
  const [first, last] = [entries[0]?.seq ?? 1, entries.at(-1)?.seq ?? 0]
  const later = entries.filter(({ step }) => step > 0).length
  const headHash = entries.at(-1)?.hash ?? sha256(SERIES)
  return (
    seriesLine({ id: SERIES, prefix: '', first, last, later, headHash, ...stated }) +
    entries.map((one) => entryLine(SERIES, one)).join('')
  )
}

const folder = scratchFolder('register')
const written = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const check = (text: string, earlier?: string) => {
  const since = earlier === undefined ? [] : ['--since', written('earlier.jsonl', earlier)]
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, written('now.jsonl', text), ...since], {
    encoding: 'utf8',
  })
  return { status, said: stdout + stderr }
}
/** One entry changed, and its own hash made to fit. */
const forged = (entries: StoredEntry[], at: number, change: Partial<StoredEntry>): StoredEntry[] =>
  entries.map((one, place) => {
    if (place !== at) return one
    const entry = { ...one, ...change }
    return { ...entry, hash: hashOf(entry) }
  })

spec('the offline check of the register', (t) => {
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const whole = register(5)
  const altered = (change: Partial<StoredEntry>) =>
    whole.map((one, place) => (place === 2 ? { ...one, ...change } : one))

  t('finds that a whole register holds, also an empty one and one that began later', () => {
    const { status, said } = check(fileOf(whole))
    assert.is(status, 0, said)
    assert.match(said, /holds {2}demo\/iss-default\/invoice\/2026: 5 entries, the last is INV-026-0005/)
    assert.is(check(fileOf([])).status, 0)
    assert.is(check(fileOf(register(3, 41))).status, 0)
  })

  t('tells what was restored, lost, amended, credited and voided', () => {
    const { status, said } = check(fileOf(lived()))
    assert.is(status, 0, said)
    assert.match(said, /7 entries \(1 restored, 1 lost, 1 amended, 1 voided, 1 credited\), the last is INV-026-0004/)
  })

  t('reads an export of before entries said what they are', () => {
    const before = fileOf(whole)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { entry: _, step: __, reference: ___, ...shown } = JSON.parse(line)
        return JSON.stringify(shown)
      })
      .join('\n')
    assert.not.match(before, /issued"/)
    assert.is(check(before).status, 0)
    assert.is(check(fileOf(register(9)), before).status, 0)
  })

  const later = lived()
  /** One entry says something else, and all that follows is chained anew. */
  const says = (at: number, change: Partial<StoredEntry>) =>
    fileOf(rechained(later.map((one, place) => (place === at ? { ...one, ...change } : one))))
  const misplaced: [string, string, RegExp][] = [
    ['a word of its own', fileOf(later.with(3, { ...later[3], entry: 'voided' } as StoredEntry)), /0001 .*was altered/],
    [
      'a number that was lost as issued',
      fileOf(later.with(6, { ...later[6], entry: 'issued' } as StoredEntry)),
      /0004 .*altered/,
    ],
    [
      'what it rests on',
      fileOf(later.with(4, { ...later[4], reference: 'CNINV-026-0002' } as StoredEntry)),
      /credited INV-026-0001 \(step 3.2\) was altered/,
    ],
    ['a later entry taken out', fileOf(later.toSpliced(4, 1), { later: 3 }), /step 3\.2 was to come/],
    ['a later entry at another place', says(3, { seq: 2 }), /step 3\.1 was to come/],
    ['a later entry of no number', says(3, { number: 'INV-026-0004' }), /tells of a number that was not given/],
    ["a later entry of another's number", says(3, { number: 'INV-026-0002' }), /tells of a number that was not given/],
    ['a word that nobody knows', says(2, { entry: 'forgotten' as 'lost' }), /says nothing that is known/],
    [
      'the last later entry cut off',
      fileOf(later.slice(0, 5), { later: 3, headHash: later[5]?.hash ?? '' }),
      /6 entries are stated, 5 are there/,
    ],
  ]

  const tampered: [string, string, RegExp][] = [
    ...misplaced,
    ['an amount', fileOf(altered({ totalCents: 1 })), /INV-026-0003 \(place 3\) was altered/],
    ['a date', fileOf(altered({ issuedAt: '2026-11-20T09:30:00.000Z' })), /INV-026-0003 .*altered/],
    ['a currency', fileOf(altered({ currency: 'USD' })), /INV-026-0003 .*altered/],
    ['whose number it is', fileOf(altered({ resource: 'inv-x' })), /INV-026-0003 .*altered/],
    ['what was numbered', fileOf(altered({ kind: 'credit_note' })), /INV-026-0003 .*altered/],
    ['a number', fileOf(altered({ number: 'ABC-026-0003' })), /ABC-026-0003 .*altered/],
    ['a number and its place', fileOf(altered({ number: 'INV-026-0009' })), /does not end in its place/],
    [
      'an amount with its hash',
      fileOf(forged(whole, 2, { totalCents: 1 })),
      /INV-026-0004 \(place 4\) does not follow/,
    ],
    [
      'the last amount with its hash',
      fileOf(forged(whole, 4, { totalCents: 1 }), { headHash: whole[4]?.hash ?? '' }),
      /the head that is stated/,
    ],
    ['the first hash', fileOf(forged(whole, 0, { prevHash: sha256('x') })), /INV-026-0001 .*does not follow/],
    ['an entry taken out', fileOf(whole.toSpliced(2, 1)), /place 3 is missing: INV-026-0004/],
    ['the first entry taken out', fileOf(whole.slice(1), { first: 1 }), /place 1 is missing/],
    ['the first entry taken out and the start moved', fileOf(whole.slice(1)), /INV-026-0002 .*does not follow/],
    [
      'the tail cut off',
      fileOf(whole.slice(0, 4), { last: 5, headHash: whole[4]?.hash ?? '' }),
      /5 entries are stated, 4 are there/,
    ],
    [
      'two entries swapped',
      fileOf(whole.with(1, whole[2] as StoredEntry).with(2, whole[1] as StoredEntry), { first: 1, last: 5 }),
      /place 2 is missing/,
    ],
    ['an entry twice', fileOf(whole.toSpliced(2, 0, whole[1] as StoredEntry)), /is there twice, or out of order/],
    ['the count', fileOf(whole, { last: 6 }), /6 entries are stated, 5 are there/],
    ['the head', fileOf(whole, { headHash: sha256('x') }), /the head that is stated/],
    ['the statement taken out', whole.map((one) => entryLine(SERIES, one)).join(''), /statement .*missing/],
  ]
  for (const [what, text, words] of tampered) {
    t(`says where it does not hold: ${what}`, () => {
      const { status, said } = check(text)
      assert.is(status, 1, said)
      assert.match(said, words)
    })
  }

  t('finds by an earlier export what was rewritten whole, head and all, or cut off', () => {
    const rewritten = fileOf(rechained(altered({ totalCents: 1 })))
    assert.is(check(rewritten).status, 0, 'nobody can tell from the file alone')
    const { status, said } = check(rewritten, fileOf(whole))
    assert.is(status, 1)
    assert.match(said, /INV-026-0003 was rewritten since the earlier export/)
    assert.match(
      check(fileOf(whole.slice(0, 3)), fileOf(whole)).said,
      /INV-026-0004 was in the earlier export and is gone/,
    )
    assert.is(check(fileOf(register(9)), fileOf(whole)).status, 0)
  })

  t('says of what is no export that it cannot read it', () => {
    for (const text of ['', 'no json', '{"a":1}', '{"series":"x","type":"other"}'])
      assert.is(check(text).status, 2, text)
    assert.is(spawnSync(process.execPath, [SCRIPT], { encoding: 'utf8' }).status, 2)
    assert.is(spawnSync(process.execPath, [SCRIPT, join(folder, 'absent')], { encoding: 'utf8' }).status, 2)
  })
})
