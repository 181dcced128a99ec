import type { ComposeRule } from '../../../../crds/app/compose/finding.ts'
import { type ComposeVerdict, judgeCompose } from '../../../../crds/app/compose/judge.ts'
import { shared, sourceOf } from '../../../support/builders/sources/upload.ts'
import { workOf } from '../../../support/judges/work.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** Blocks that are entered for a text: some hundred thousand for any, and so many for each character. */
const workMaxFor = (text: string): number => 100_000 + 200 * text.length

const aLineEach = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n')
const dependsOnAll = (n: number): string =>
  ` s${n}: {image: "a:1", depends_on: [${Array.from({ length: 20 }, (_, m) => `s${m}`)}]}`
const LONG_NAME = 'a-'.repeat(16_000)
const SLOW_STOP = '/services/a/stop_grace_period'

const judgeText = (text: string): ComposeVerdict =>
  judgeCompose(sourceOf({ 'docker-compose.yml': text }), { ...shared, env: { A: 'x' } })

spec('the work for a compose file', (t) => {
  // Each below the caps of characters and tokens, so that it reaches the code it is for.
  const heavy: [string, string, at: string, rule: ComposeRule][] = [
    ['brackets', '['.repeat(24_000), '', 'syntax'],
    ['mappings in mappings', '{a: '.repeat(4_000), '', 'syntax'],
    ['lists in lists', '- '.repeat(12_000), '', 'syntax'],
    ['lists in lists, a line each', aLineEach(200, (n) => `${' '.repeat(n)}-`), '/0'.repeat(33), 'syntax'],
    ['quotes', '"'.repeat(24_000), '', 'syntax'],
    ['commas', `[${','.repeat(24_000)}]`, '', 'syntax'],
    ['anchors', '&a '.repeat(12_000), '', 'syntax'],
    ['documents', '---\n'.repeat(12_000), '', 'syntax'],
    ['directives', '%a\n'.repeat(12_000), '', 'syntax'],
    ['many keys', aLineEach(3_500, (n) => `k${n}: 1`), '/k0', 'unknown-key'],
    ['many services with nothing', `services:\n${aLineEach(3_000, (n) => ` s${n}: {}`)}`, '/services', 'size'],
    ['braces that open', `services: {a: {command: "${'${A:-'.repeat(5_000)}"}}`, '/services/a/command', 'variable'],
    ['dollars', `services: {a: {command: "${'$'.repeat(32_000)}"}}`, '/services/a', 'image'],
    ['a long duration', `services: {a: {stop_grace_period: ${'1h'.repeat(16_000)}}}`, SLOW_STOP, 'value'],
    ['a long path', `services: {a: {volumes: ["${'a/../'.repeat(6_000)}:/x"]}}`, '/services/a/volumes/0', 'value'],
    ['a long image', `services: {a: {image: "${'a-'.repeat(16_000)}"}}`, '/services/a/image', 'value'],
    ['a long name', `services: {${LONG_NAME}: {}}`, `/services/${LONG_NAME}`, 'value'],
    ['a circle of many', `services:\n${aLineEach(20, dependsOnAll)}`, '/services/s0', 'value'],
    ['characters', `services: {a: {image: "x", command: "${'a'.repeat(131_072)}"}}`, '', 'size'],
    ['tokens', '{a: '.repeat(30_000), '', 'size'],
  ]
  for (const [sentence, text, at, rule] of heavy) {
    t(`is bounded, and it is refused, for ${sentence}`, () => {
      const verdicts: ComposeVerdict[] = []
      const work = workOf(() => verdicts.push(judgeText(text)))
      const findings = verdicts.flatMap((verdict) => (verdict.ok ? [] : verdict.findings))
      assert.equal([findings[0]?.pointer, findings[0]?.rule], [at, rule])
      assert.ok(work < workMaxFor(text), `${work} for ${text.length} characters`)
    })
  }
})
