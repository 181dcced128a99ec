/** How long a function is, as the compiler's own syntax has it. */
import { join } from 'node:path'
import { type Node, SyntaxKind } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { root, type Tree } from './tree.ts'

const FUNCTION_LINES_MAX = 70
const FUNCTIONS: readonly SyntaxKind[] = [
  SyntaxKind.ArrowFunction,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]
const CONFIG = 'tsconfig.functions.json'

/** Tests are read sentence by sentence; what they stand on is read like the rest. */
const isMeasured = (path: string): boolean => !/^test\/(?!support\/)|\.test\.ts$/.test(path)

/** Line numbers, from 1, of the first and the last line of a node without the comment before it. */
const linesOf = (text: string, node: Node): [number, number] => {
  const before = text.slice(0, node.pos).split('\n').length
  const skipped = /^(?:\s|\/\*[\s\S]*?\*\/|\/\/.*)*/.exec(text.slice(node.pos, node.end))?.[0] ?? ''
  const first = before + skipped.split('\n').length - 1
  return [first, text.slice(0, node.end).split('\n').length]
}

const longIn = (path: string, text: string, node: Node): string[] => {
  const found: string[] = []
  if (FUNCTIONS.includes(node.kind)) {
    const [first, last] = linesOf(text, node)
    const lines = last - first + 1
    if (lines > FUNCTION_LINES_MAX) found.push(`${path}:${first} has a function of ${lines} lines`)
  }
  node.forEachChild((child) => {
    found.push(...longIn(path, text, child))
  })
  return found
}

/** Functions of more than 70 lines, top-level and nested ones: where they begin, and how many lines they have. */
export const longFunctions = (tree: Tree): string[] => {
  const texts = new Map([...tree].flatMap(([path, text]) => (isMeasured(path) ? [[join(root, path), text]] : [])))
  const compilerOptions = { noResolve: true, noLib: true, types: [], allowImportingTsExtensions: true, noEmit: true }
  const config = JSON.stringify({ compilerOptions, include: [], files: [...texts.keys()] })
  const read = new Map([...texts, [join(root, CONFIG), config]])
  const fs = { readFile: (path: string) => read.get(path), fileExists: (path: string) => read.has(path) || undefined }
  const api = new API({ cwd: root, fs })
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(root, CONFIG)] }).getProjects()
    if (!project) throw new Error('the compiler opened no project')
    return [...tree.keys()].filter(isMeasured).flatMap((path) => {
      const file = project.program.getSourceFile(join(root, path))
      if (!file) throw new Error(`the compiler did not read ${path}`)
      return longIn(path, file.text, file)
    })
  } finally {
    api.close()
  }
}
