/** How a file is written: pure where it has to be, short, by name, with nothing left for later. */
import { importsOf, packageOf, type Tree, withoutComments } from './tree.ts'

const FILE_LINES_MAX = 300
/** Tables of cases are read by line, not as a whole. */
const TEST_LINES_MAX = 500

/** `crds` is pure: the same arguments give the same answer, for ever. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bprocess\.|\bfetch\(|\bsetTimeout\b|\bTemporal\.Now\b|\brandom(?:Bytes|UUID)\b|\bcrypto\.getRandomValues\b/
const PURE_BUILTINS = ['node:assert', 'node:assert/strict', 'node:crypto', 'node:url', 'node:zlib']

export const impurities = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!path.startsWith('crds/')) return []
    const builtins = importsOf(path, text).filter(
      (target) => target.startsWith('node:') && !PURE_BUILTINS.includes(target),
    )
    const word = IMPURE.exec(withoutComments(text))?.[0]
    return [...builtins, ...(word === undefined ? [] : [word])].map((what) => `${path} uses ${what}`)
  })

/** What is run, or hands the parts to what is run. */
const isWiring = (path: string) =>
  /^(controllers\/(main|operator|setup)|api\/(main|http\/smoke|client\/(cli|devbox)\/main))\.ts$/.test(path)

export const environmentReaders = (tree: Tree): string[] =>
  [...tree.keys()].filter((path) => {
    if (/^(hack|test)\//.test(path) || path === 'controllers/base/env.ts' || isWiring(path)) return false
    return /\bprocess\.env\b/.test(withoutComments(tree.get(path) ?? ''))
  })

export const bareUvu = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) =>
    path !== 'test/support/runner/spec.ts' && importsOf(path, text).some((target) => packageOf(target) === 'uvu')
      ? [path]
      : [],
  )

export const tooLong = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    const lines = text.split('\n').length - 1
    return lines > (path.endsWith('.test.ts') ? TEST_LINES_MAX : FILE_LINES_MAX) ? [`${path} has ${lines} lines`] : []
  })

const MARKS = new RegExp(`\\b(${['TO', 'FIX'].map((head) => head + { TO: 'DO', FIX: 'ME' }[head]).join('|')})\\b`)
export const leftovers = (tree: Tree): string[] => [...tree].flatMap(([path, text]) => (MARKS.test(text) ? [path] : []))

export const defaults = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => (/^export default\b/m.test(text) ? [path] : []))

/** A row is typed by its kind, where it comes out of the store (`typedBy`); whoever casts a view declares it again. */
const TYPED = 'controllers/store/mirror.ts'
const CAST =
  /\b(?:views?|MirrorRow(?:<\w+>)?)\)?(?: \?\? \{\})?\)? as [A-Z{(]|\bas (?:MirrorRow|SendRecord|StoredSend)\b/

export const castViews = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    const cast = path === TYPED ? undefined : CAST.exec(withoutComments(text))?.[0]
    return cast === undefined ? [] : [`${path} has ${cast}`]
  })

/** A name that means one thing in one file and another in the next cannot be searched for. */
export const typesTwice = (tree: Tree): string[] => {
  const types = [...tree].flatMap(([path, text]) =>
    path.startsWith('test/')
      ? []
      : [...text.matchAll(/^export (?:type|interface|class) (\w+)/gm)].map(([, name = '']) => ({ name, path })),
  )
  return [...Map.groupBy(types, ({ name }) => name)].flatMap(([name, found]) =>
    found.length > 1 ? [`${name} is exported by ${found.map(({ path }) => path).join(' and ')}`] : [],
  )
}
