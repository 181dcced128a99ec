/** No text that a caller can send makes a pattern of ours work longer than in proportion to its length. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: programs stand in texts here
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { textPattern, textPatternRe2 } from '../crds/kernel/schema.ts'
import { paths } from '../hack/lib/state.ts'
import { dereferenced } from './support/judges/dereferenced.ts'
import { type Collected, collect, type Pattern } from './support/patterns/collect.ts'
import { ofDocument } from './support/patterns/documents.ts'
import { faultOf } from './support/patterns/judge.ts'
import { judgeDigest, openVerdicts, type Verdicts } from './support/patterns/verdicts.ts'
import { assert, spec } from './support/runner/spec.ts'

const root = join(import.meta.dirname, '..')
const filesOf = (...globs: string[]) => globSync(globs, { cwd: root }).sort()

/** Written from one table of characters, so that JavaScript and RE2 read the same. */
const MADE = {
  textPattern: [textPattern('line'), textPattern('block')],
  textPatternRe2: [textPatternRe2('line'), textPatternRe2('block')].map((source) => source.replace(/\\x\{/g, '\\u{')),
}

const joined = (parts: readonly Collected[]): Collected => ({
  patterns: parts.flatMap(({ patterns }) => patterns),
  hidden: parts.flatMap(({ hidden }) => hidden),
})

/** Tests and what they are served by are left out: they read what we wrote ourselves, in processes of their own. */
/** What is bundled of `api/client/cli` runs where its user is, on his own words; its sources are looked at. */
const isOurs = (path: string): boolean => path !== 'api/client/bottega.mjs'

const readTree = (): Collected =>
  joined([
    collect(
      root,
      new Map(
        filesOf('{crds,controllers,api,hack}/**/*.{ts,mjs}')
          .filter(isOurs)
          .map((path) => [path, null]),
      ),
      MADE,
    ),
    ...filesOf('crds/*.yaml', 'api/openapi/*.json', 'charts/**/*.schema.json', '{crds,controllers,api}/**/*.sql').map(
      (path) => ofDocument(path, readFileSync(join(root, path), 'utf8')),
    ),
  ])

const WRITTEN_EVERY_MS = 10_000

/** @param verdicts of earlier runs, which are not looked for again */
const faultsOf = async (patterns: readonly Pattern[], verdicts?: Verdicts): Promise<string[]> => {
  const places = Map.groupBy(patterns, ({ source, flags }) => `/${source}/${flags}`)
  const faults: string[] = []
  let writtenMs = performance.now()
  for (const [written, [first]] of places) {
    if (!first || verdicts?.isKnown(first)) continue
    const fault = await faultOf(first)
    if (fault) faults.push(`${first.where} ${written} ${fault}`)
    else verdicts?.keep(first)
    // whoever is cut off goes on from there the next time
    if (performance.now() - writtenMs > WRITTEN_EVERY_MS) {
      verdicts?.write()
      writtenMs = performance.now()
    }
  }
  return faults
}

/** With `--full` each is judged again. */
const VERDICTS_FILE = process.env.BOTTEGA_TEST_FULL ? null : paths.linearPatterns
const faultsOfTree = async (patterns: readonly Pattern[]): Promise<string[]> => {
  const verdicts = VERDICTS_FILE === null ? undefined : openVerdicts(VERDICTS_FILE, judgeDigest())
  const faults = await faultsOf(patterns, verdicts)
  verdicts?.write()
  return faults
}

const DOCUMENTS = filesOf('api/openapi/openapi-*.json')

/** Patterns of bodies and parameters that no length stands before, and that match texts of any length. */
const withoutLength = (node: unknown, isAsked = false): string[] => {
  if (typeof node !== 'object' || node === null) return []
  const pattern: unknown = Reflect.get(node, 'pattern')
  const isEndless = typeof pattern === 'string' && pattern.startsWith('^') && /[*+]|,\}/.test(withoutClasses(pattern))
  const own = isAsked && isEndless && Reflect.get(node, 'maxLength') === undefined ? [String(pattern)] : []
  const inner = Object.entries(node).flatMap(([name, child]) =>
    withoutLength(child, isAsked || name === 'requestBody' || name === 'parameters'),
  )
  return [...own, ...inner]
}
const withoutClasses = (pattern: string): string => pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, 'c')

spec('the patterns of the tree', (t) => {
  const tree = readTree()

  t('were all found', () => {
    assert.ok(tree.patterns.length > 500, String(tree.patterns.length))
    const places = [
      'crds/',
      'controllers/',
      'api/',
      'hack/',
      'api/client/',
      'crds/invoice.yaml',
      'api/openapi/openapi-apps.json',
    ]
    for (const path of [
      ...places,
      'controllers/store/sql/',
      'charts/bottega/values.schema.json',
      'crds/app/lifecycle/redact.ts',
    ])
      assert.ok(
        tree.patterns.some(({ where }) => where.startsWith(path)),
        path,
      )
  })
  t('have a text that the compiler can spell out', () => assert.equal(tree.hidden, []))
  t('are linear, each of them', async () => assert.equal(await faultsOfTree(tree.patterns), []), {
    timeoutMs: 1_400_000,
  })
  t('stand in the documents with a length before them, or with an end of their own', () => {
    const endless = DOCUMENTS.flatMap((path) =>
      withoutLength(dereferenced(JSON.parse(readFileSync(join(root, path), 'utf8')))),
    )
    assert.equal([...new Set(endless)], [])
  })
})

const OVERSEEN = 'would be seen'
const PLANTED: [string, string, string][] = [
  ['a literal', 'a.ts', 'export const a = /^\\s*a\\s*\\s*$/'],
  ['a search without an anchor', 'a.ts', "export const a = (text: string) => text.replace(/\\s+$/, '')"],
  ['a search that goes on from each start', 'a.ts', "export const a = 'a'.replaceAll(/[^/]*!/g, '')"],
  ['what is tried in vain before each match', 'a.ts', 'export const a = (text: string) => text.split(/a(?:[^]*b)?/)'],
  ['a second alternative that hides the first', 'a.ts', 'export const a = /(?:a[^]*b|a)/g'],
  ['a text in a call', 'a.ts', "export const a = new RegExp('(a+)+$', 'u')"],
  ['parts in a call', 'a.ts', "const b = '(a+)+'\nexport const a = RegExp(`^${b}$` as const)"],
  ['a constant of another place', 'a.ts', "const A = { b: '^(a|a)*$' } as const\nexport const a = new RegExp(A.b)"],
  ['a schema', 'a.ts', "export const a = { type: 'string', pattern: '^(a*)*$' }"],
  ['a schema with a constant', 'a.ts', "const pattern = '^(a*)*$'\nexport const a = { pattern }"],
  ['a schema that is changed', 'a.ts', "export const a: { pattern?: string } = {}\na.pattern = '^(a*)*$'"],
  ['a text that match makes a pattern of', 'a.ts', "export const a = 'b'.match('a*b')"],
  ['a large count', 'a.ts', 'export const a = /a{0,5000}b/'],
  ['a large count in a loop', 'a.ts', 'export const a = /^(?:[a-z]{1,63}){1,63}$/'],
  ['a back-reference', 'a.ts', 'export const a = /^(a*)\\1b/'],
  ['a look back', 'a.ts', 'export const a = /(?<!xa*)y/'],
  ['a script of a page', 'a.ts', "export const a = `'use strict';\ndocument.title.replace(/\\\\s+$/, '');\n`"],
  ['a form of a page', 'a.ts', 'export const a = (b: string) => `<input name="${b}" pattern="(a*)*">`'],
  ['a program for receivers', 'a.mjs', 'export const a = /(a*)*b/'],
  ['a definition', 'a.yaml', 'a:\n  - properties: { b: { pattern: "^(a*)*$" } }\n'],
  ['a served document', 'a.json', '{"schema":{"pattern":"^(\\\\x{61}*)*$"}}'],
  ['names in a schema', 'a.json', '{"patternProperties":{"^(a*)*$":{}}}'],
  ['a statement', 'a.sql', "select 1 where name ~ '^(a*)*$'"],
]
const HIDDEN: [string, string, string][] = [
  ['a text that is not known', 'a.ts', 'export const a = (b: string) => new RegExp(b)'],
  ['a part that is not known', 'a.ts', 'export const a = (b: string) => new RegExp(`^${b}$` as const)'],
  ['flags that are not known', 'a.ts', "export const a = (b: string) => new RegExp('a', b)"],
  ['another name', 'a.ts', "const R = RegExp\nexport const a = new R('(a*)*')"],
  ['a place of another name', 'a.ts', "export const a = new globalThis.RegExp('(a*)*')"],
  ['a schema of a parameter', 'a.ts', 'export const a = (pattern: string) => ({ pattern })'],
  ['a search for what is not known', 'a.ts', "export const a = (b: string) => 'b'.search(b)"],
  ['a form of parts', 'a.ts', 'export const a = (b: string) => `<input pattern="${b}*">`'],
  ['a rule of a definition', 'a.yaml', 'rules: [{ rule: "self.a.matches(self.b)" }]'],
  ['a statement that makes one', 'a.sql', 'select 1 where name ~ other'],
]
const ofPlanted = (name: string, text: string): Collected =>
  /\.(?:ts|mjs)$/.test(name) ? collect(root, new Map([[`api/planted/${name}`, text]]), MADE) : ofDocument(name, text)

spec('a pattern that is not linear', (t) => {
  for (const [what, name, text] of PLANTED) {
    t(`${OVERSEEN} in ${what}`, async () => {
      const { patterns, hidden } = ofPlanted(name, text)
      assert.equal(hidden, [])
      assert.is((await faultsOf(patterns)).length, 1)
    })
  }
  for (const [what, name, text] of HIDDEN)
    t(`${OVERSEEN} behind ${what}`, () => assert.is(ofPlanted(name, text).hidden.length, 1))
  t('is told from those that look like one', async () => {
    const text =
      "export const a = [/^a*b/, /a+/g, /^(?:[^,]*,)*$/, /a{2}b{61}/, new RegExp('^[a-z]+$', 'u'), /[{]9999[}]/]"
    const { patterns, hidden } = ofPlanted('a.ts', text)
    assert.equal([patterns.length, hidden, await faultsOf(patterns)], [6, [], []])
  })
})

spec('a verdict that is kept', (t) => {
  let folder = ''
  t.before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-verdicts-'))
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const linear = { where: 'a.ts:1', source: '^a*b', flags: '' }
  const quadratic = { where: 'a.ts:2', source: 'a*b', flags: '' }
  const fileOf = (name: string) => join(folder, 'made', name)
  const judged = async (name: string, patterns: Pattern[], judge = 'judge') => {
    const verdicts = openVerdicts(fileOf(name), judge)
    const faults = await faultsOf(patterns, verdicts)
    verdicts.write()
    return faults.length
  }
  const knows = (name: string, pattern: Pattern, judge = 'judge') => openVerdicts(fileOf(name), judge).isKnown(pattern)

  t('holds for that pattern, those flags and that judge alone', async () => {
    assert.is(await judged('one', [linear]), 0)
    assert.ok(knows('one', linear))
    assert.ok(knows('one', { ...linear, where: 'b.ts:7' }))
    assert.not.ok(knows('one', { ...linear, flags: 'm' }))
    assert.not.ok(knows('one', { ...linear, source: '^a*bc' }))
    assert.not.ok(knows('one', linear, 'another judge'))
  })
  t('is never one of a fault, which is found in each run', async () => {
    for (let run = 0; run < 2; run++) assert.is(await judged('two', [linear, quadratic]), 1)
    assert.not.ok(knows('two', quadratic))
  })
  t('goes with its pattern, and with a file that was damaged', async () => {
    await judged('three', [linear, { ...linear, source: '^c' }])
    await judged('three', [linear])
    assert.equal([knows('three', linear), knows('three', { ...linear, source: '^c' })], [true, false])
    for (const text of ['{"judge":"judge","linear":', 'null', '{"judge":"judge","linear":"all"}']) {
      writeFileSync(fileOf('three'), text)
      assert.not.ok(knows('three', linear), text)
    }
  })
})
