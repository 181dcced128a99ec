/**
 * Where a pattern looked through the rest of a text from each of its places, something else reads the same language now.
 * The long texts took minutes and more; a work that grows with their square again would not end within a test's deadline.
 */
import fc from 'fast-check'
import { compileCheck } from '../../../api/http/validate.ts'
import { generateBody } from '../../../api/site/shapes.ts'
import { isSocket } from '../../../crds/app/compose/checking/mounts.ts'
import { judgeCompose } from '../../../crds/app/compose/judge.ts'
import { cleaned } from '../../../crds/text/drawn.ts'
import { displayCents } from '../../../crds/values/money.ts'
import { trimmedEnd } from '../../../crds/values/trimmed.ts'
import { shared, sourceOf } from '../../support/builders/sources/upload.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const RUNS = 3000
const LONG = 2_000_000

/** Two readings say the same of every text that is made of these pieces. */
const sameOf = (pieces: readonly string[], before: (text: string) => unknown, now: (text: string) => unknown): void => {
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 10 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(texts, (text) => assert.equal(now(text), before(text), JSON.stringify(text))),
    { numRuns: RUNS },
  )
}

const judged = (scalar: string) => {
  const text = `x-a: ${scalar}\nservices: {web: {image: "nginx:1.27", expose: [8080]}}\n`
  const verdict = judgeCompose(sourceOf({ 'docker-compose.yml': text }), shared)
  return verdict.ok ? [] : verdict.findings.map(({ rule }) => rule)
}

spec('a long text', (t) => {
  t('of a picture is base64 or not (test/api/http/base64.test.ts)', () => {
    const checkSite = compileCheck({ ...generateBody, required: [] })
    const faults = (logo: string) => checkSite({ assets: { logo } }).length
    const spaces = ' '.repeat(LONG)
    const texts = ['A'.repeat(LONG), `AA==${spaces}`, `${spaces}!`, `AA==${spaces}=`, spaces]
    assert.equal(texts.map(faults), [0, 0, 1, 1, 1])
  })

  t('of figures in a compose file is ambiguous or not, as before', () => {
    const before = (text: string) => (/^[-+]?(0\d+|0b[01]+|\d[\d_]*_[\d_.]*)$/.test(text) ? ['syntax'] : [])
    sameOf(
      ['0', '1', 'b', '_', '_1', '.', '7'],
      (text) => before(`1${text}`),
      (text) => judged(`1${text}`),
    )
    assert.equal([`1${'_'.repeat(120_000)}!`, `${'1_'.repeat(60_000)}!`, `1${'_'.repeat(120_000)}`].map(judged), [
      [],
      [],
      ['syntax'],
    ])
  })

  t('of a mount is a socket of the host or not, as before', () => {
    const before =
      /(docker|containerd|podman|crio|cri-dockerd|buildkitd|dockershim)[^/\\]*\.sock|docker_engine|^\/+(var\/+)?run\/*$/i
    const pieces = [
      'docker',
      'd',
      'cri-',
      'cri',
      'o',
      'shim',
      'Containerd',
      'podman',
      '/',
      '\\',
      '.sock',
      '.SOCK',
      'var',
      'run',
    ]
    sameOf([...pieces, '_engine', '\n', '\u212a'], (text) => before.test(text), isSocket)
    assert.not(isSocket('docker'.repeat(LONG / 6)))
    assert.ok(isSocket(`${'docker'.repeat(LONG / 6)}.sock`))
  })

  t('of letters that join keeps the joiners that it kept', () => {
    const silent = /\u00ad|\u200b|[\u200e\u200f\u061c]|\u2060|[\ufe00-\ufe0f]|\ufeff/g
    const idle = /(?<!\p{Script=Arabic}\p{M}*)[\u200c\u200d]|[\u200c\u200d](?!\p{Script=Arabic})/gu
    const before = (text: string) =>
      text
        .normalize('NFC')
        .replace(silent, '')
        .replace(idle, '')
        .replace(/[\t\p{Zs}]/gu, ' ')
    const letters = ['\u0628', '\u0645', '\u0610', '\u0915', 'a', '\u{1f600}', '\ud800']
    sameOf(['\u200c', '\u200d', '\u064b', '\u0301', '\u094d', ' ', '\u00a0', ...letters], before, cleaned)
  })

  t('of digits is set in groups of three', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (cents) => {
        const whole = Math.floor(cents / 100).toLocaleString('en-US')
        assert.is(displayCents(cents, 'EUR').split('.', 1)[0], whole)
      }),
      { numRuns: RUNS },
    )
  })

  t('loses what stands at its end and nothing else', () => {
    sameOf(
      ['=', 'a', '=='],
      (text) => text.replace(/=+$/, ''),
      (text) => trimmedEnd(text, '='),
    )
    assert.is(trimmedEnd(`${'='.repeat(LONG)}a`, '=').length, LONG + 1)
  })

  t('is as long as it has code points, whatever its units are', () => {
    const [least, most] = [3, 7]
    const check = compileCheck({ type: 'string', minLength: least, maxLength: most })
    const sign = fc.constantFrom('a', '\u0644', '\u{1f600}', '\ud83d', '\ude00')
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 2 * most + 3 }), (signs) => {
        const text = signs.join('')
        const points = [...text].length
        assert.is(check(text).length === 0, points >= least && points <= most, `${points} of ${text.length}`)
      }),
      { numRuns: RUNS },
    )
  })

  t('is not held against its pattern when it is longer than it may be', () => {
    const check = compileCheck({ type: 'string', maxLength: 10, pattern: '^[0-9]+$' })
    const details = (text: string) => check(text).map(({ detail }) => detail)
    assert.equal(details('a'), ['The body must match pattern "^[0-9]+$".'])
    assert.equal(details('a'.repeat(21)), ['The body must NOT have more than 10 characters.'])
    // ten code points of two units each are not too long, so the pattern has its say
    assert.equal(details('\u{1f600}'.repeat(10)), ['The body must match pattern "^[0-9]+$".'])
    assert.equal(details('\u{1f600}'.repeat(11)), ['The body must NOT have more than 10 characters.'])
    assert.equal(details('7'.repeat(10)), [])
  })
})
