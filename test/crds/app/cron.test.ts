import fc from 'fast-check'
import { type Cron, lastOf, nextOf, parseCron } from '../../../crds/app/runs/cron.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const cron = (text: string): Cron => {
  const parsed = parseCron(text)
  if ('fault' in parsed) throw new Error(`${text}: ${parsed.fault}`)
  return parsed.cron
}
const next = (text: string, after: string, zone = 'UTC') => nextOf(cron(text), zone, new Date(after))
const last = (text: string, now: string, since = '2000-01-01T00:00:00Z', zone = 'UTC') =>
  lastOf(cron(text), zone, { since: new Date(since), now: new Date(now) })

spec('a schedule in the fields of cron', (t) => {
  const comes: [text: string, after: string, at: string | null, zone?: string][] = [
    ['*/15 * * * *', '2026-11-26T10:00:00Z', '2026-11-26T10:15:00.000Z'],
    ['*/15 * * * *', '2026-11-26T10:59:59.999Z', '2026-11-26T11:00:00.000Z'],
    ['5/20 * * * *', '2026-11-26T10:06:00Z', '2026-11-26T10:25:00.000Z'],
    ['0 3 * * mon-fri', '2026-11-27T03:00:00Z', '2026-11-30T03:00:00.000Z'],
    ['0 0 29 2 *', '2026-11-26T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    // 2100 is no leap year.
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    ['0 12 13 * 5', '2026-11-26T00:00:00Z', '2026-11-27T12:00:00.000Z'],
    ['0 12 13 * *', '2026-11-26T00:00:00Z', '2026-12-13T12:00:00.000Z'],
    ['0 0 * * 7', '2026-11-26T00:00:00Z', '2026-11-29T00:00:00.000Z'],
    ['0 0 * * 0', '2026-11-26T00:00:00Z', '2026-11-29T00:00:00.000Z'],
    ['@daily', '2026-11-26T00:00:00Z', '2026-11-27T00:00:00.000Z'],
    ['30 8 * jan,jul *', '2026-11-26T00:00:00Z', '2027-01-01T07:30:00.000Z', 'Europe/Berlin'],
    ['0 9 * * *', '2026-11-26T00:00:00Z', '2026-11-26T03:30:00.000Z', 'Asia/Kolkata'],
    // In spring the clock goes from 02:00 to 03:00, and what it leaves out comes an hour later.
    ['30 2 * * *', '2026-03-28T12:00:00Z', '2026-03-29T01:30:00.000Z', 'Europe/Berlin'],
    // In autumn it goes through 02:30 twice, and the first time counts.
    ['30 2 * * *', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00.000Z', 'Europe/Berlin'],
    ['30 2 * * *', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00.000Z', 'Europe/Berlin'],
  ]
  for (const [text, after, at, zone] of comes)
    t(`"${text}" comes next after ${after} in ${zone ?? 'UTC'} at ${at}`, () => assert.is(next(text, after, zone), at))

  t('the last instant is the one before now, and none is told of before it was asked for', () => {
    assert.is(last('0 3 * * *', '2026-11-26T02:59:00Z'), '2026-11-25T03:00:00.000Z')
    assert.is(last('0 3 * * *', '2026-11-26T03:00:00Z'), '2026-11-26T03:00:00.000Z')
    assert.is(last('0 3 * * *', '2026-11-26T04:00:00Z', '2026-11-26T03:00:00Z'), null)
    assert.is(last('0 3 1 1 *', '2026-11-26T04:00:00Z', '2020-06-01T00:00:00Z'), '2026-01-01T03:00:00.000Z')
    assert.is(last('0 3 1 1 *', '2026-11-26T04:00:00Z', '2026-06-01T00:00:00Z'), null)
  })

  const wrong: [text: string, said: RegExp][] = [
    ['* * * *', /4 fields/],
    ['* * * * * *', /6 fields/],
    ['60 * * * *', /minute "60"/],
    ['* 24 * * *', /hour "24"/],
    ['* * 0 * *', /day of the month "0"/],
    ['* * * 13 *', /month "13"/],
    ['* * * * 8', /day of the week "8"/],
    ['5-1 * * * *', /minute "5-1"/],
    ['*/0 * * * *', /minute/],
    ['1,,2 * * * *', /minute/],
    ['a * * * *', /minute "a"/],
    ['* * * mon *', /month "mon"/],
    ['0 0 31 feb *', /never comes/],
    ['0 0 30 2 *', /never comes/],
    ['@reboot', /1 fields/],
    ['', /0 fields/],
  ]
  for (const [text, said] of wrong)
    t(`"${text}" is refused with what is wrong`, () => {
      const parsed = parseCron(text)
      assert.ok('fault' in parsed)
      assert.match('fault' in parsed ? parsed.fault : '', said)
    })

  t('whatever it says: the next instant is told as the last one, and nothing lies in between', () => {
    const part = (min: number, max: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min, max }).map(String),
        fc.integer({ min: 2, max: 9 }).map((step) => `*/${step}`),
        fc
          .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
          .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      )
    const text = fc
      .tuple(part(0, 59), part(0, 23), part(1, 28), part(1, 12), part(0, 6))
      .map((parts) => parts.join(' '))
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe')
    const at = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2027, 0, 1) })
    fc.assert(
      fc.property(text, zone, at, (words, where, ms) => {
        const known = cron(words)
        const found = nextOf(known, where, new Date(ms))
        assert.ok(found !== null && Date.parse(found) > ms)
        if (found === null) return
        assert.is(lastOf(known, where, { since: new Date(ms), now: new Date(found) }), found)
        const before = new Date(Date.parse(found) - 1)
        assert.is(lastOf(known, where, { since: new Date(ms), now: before }), null)
      }),
      { numRuns: 300 },
    )
  })
})
