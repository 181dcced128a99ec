/** What comments and pages cite, opened: a rule under its heading, a decision by its number, a file by its path. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kindNames } from './rooms.ts'
import { root, type Tree } from './tree.ts'

const RULES = 'hack/docs/rules/'
const DECISIONS = 'hack/decisions/'
const SOURCES = '{crds,controllers,api,hack,test,charts}/**/*.{ts,mjs,sql,sh,py,yaml,md}'

/** All that is written for readers: code for its comments, and pages whole. */
export const readTexts = (): Tree =>
  new Map(
    globSync([SOURCES, 'README.md'], { cwd: root, exclude: (path) => path.includes('node_modules') })
      .sort()
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  )

const COMMENTS: Record<string, RegExp> = {
  ts: /\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm,
  mjs: /\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm,
  sql: /--.*$/gm,
  sh: /(?:^|\s)#.*$/gm,
  py: /(?:^|\s)#.*$/gm,
  yaml: /(?:^|\s)#.*$/gm,
}

const commentsOf = (path: string, text: string): string => {
  const pattern = COMMENTS[path.slice(path.lastIndexOf('.') + 1)]
  return pattern === undefined ? text : (text.match(pattern) ?? []).join('\n')
}

const isPage = (path: string): boolean => path.endsWith('.md')

/** As GitHub makes it of a heading: lower case, no punctuation, a hyphen for each space. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const headingsOf = (text: string): string[] =>
  [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ +(.+?) *$/gm)].map(([, heading = '']) => anchorOf(heading))

/** Anchors of a page that two headings share: a citation would open the first of them only. */
export const sharedAnchors = (texts: Tree): string[] =>
  [...texts].flatMap(([path, text]) => {
    if (!path.startsWith(RULES)) return []
    const anchors = headingsOf(text)
    return anchors.filter((one, index) => anchors.indexOf(one) !== index).map((one) => `${path} has two #${one}`)
  })

/** One page and its anchors, with commas between them, also over the lines of a comment. */
const CITATION = /\brules\/([\w-]+)\.md((?:#[\w-]+)?(?:,[\s*/-]+#[\w-]+)*)/g

/** @param pages the rules by path, when they are others than among the texts */
export const deadCitations = (texts: Tree, pages: Tree = texts): string[] =>
  [...texts].flatMap(([path, text]) =>
    [...commentsOf(path, text).matchAll(CITATION)].flatMap(([, name = '', anchors = '']) => {
      const page = pages.get(`${RULES}${name}.md`)
      if (page === undefined) return [`${path} cites rules/${name}.md, which is not there`]
      const headings = headingsOf(page)
      return [...anchors.matchAll(/#([\w-]+)/g)]
        .filter(([, anchor = '']) => !headings.includes(anchor))
        .map(([anchor]) => `${path} cites ${anchor} of rules/${name}.md, which has no such heading`)
    }),
  )

/** Papers that are not here, and the numbers of a list of tasks. */
const ELSEWHERE = /\b(?:DESIGN|CONTRACT|SITES|STYLE)\b|\bspec\/\d|\bresearch\/|\bissue #?\d/g

export const citedElsewhere = (texts: Tree): string[] =>
  [...texts].flatMap(([path, text]) =>
    [...commentsOf(path, text).matchAll(ELSEWHERE)].map(([what]) => `${path} cites ${what}, which is not here`),
  )

/** The names of decisions, `NNN-name.md`. */
const decisionsOf = (texts: Tree): string[] =>
  [...texts.keys()].filter((path) => path.startsWith(DECISIONS)).map((path) => path.slice(DECISIONS.length))

export const deadDecisions = (texts: Tree, names: readonly string[] = decisionsOf(texts)): string[] =>
  [...texts].flatMap(([path, text]) =>
    [...commentsOf(path, text).matchAll(/\bdecisions\/(\d{3})((?:-[\w-]+)?(?:\.md)?)/g)]
      .filter(([, number = '', rest = '']) => {
        const cited = number + rest.replace(/\.md$/, '')
        return !names.some((name) => (rest === '' ? name.startsWith(`${number}-`) : name === `${cited}.md`))
      })
      .map(([what]) => `${path} cites ${what}, which is not there`),
  )

/** @param names of decisions; without a number of its own a citation by number opens either of two */
export const sharedNumbers = (names: readonly string[]): string[] => {
  const numbers = names.map((name) => name.slice(0, 3))
  return names.filter((_, index) => numbers.indexOf(numbers[index] ?? '') !== index)
}

export const decisionNames = (texts: Tree): string[] => decisionsOf(texts).filter((name) => /^\d{3}-/.test(name))

const isThere = (path: string): boolean =>
  path.endsWith('/') ? globSync(`${path}*`, { cwd: root }).length > 0 : existsSync(join(root, path))

/** Pages that lead through the house: the top one, one in each hall, and all of `hack/docs`. */
const leads = (path: string): boolean => /^(?:\w+\/)?README\.md$/.test(path) || path.startsWith('hack/docs/')

/** Paths in backticks, from the root. `<kind>` stands for one of the kinds at least. */
const PATH = /`((?:crds|controllers|api|charts|hack|test)\/[\w./<>-]*)[^`\n]*`/g

export const deadPaths = (texts: Tree): string[] =>
  [...texts].flatMap(([path, text]) => {
    if (!isPage(path) || !leads(path)) return []
    return [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(PATH)]
      .filter(([, named = '']) => {
        if (/^hack\/decisions\/\d{3}$/.test(named)) return false // cited by its number: deadDecisions
        const pattern = named.replaceAll('<kind>', `{${kindNames.join(',')}}`)
        return pattern === named ? !isThere(named) : globSync(pattern, { cwd: root }).length === 0
      })
      .map(([, named = '']) => `${path} names ${named}, which is not there`)
  })

const README_LINES_MAX = 40
const HALLS = ['crds', 'controllers', 'api', 'charts', 'hack', 'test']

/** Each hall has a page at its door, short enough to be read. */
export const missingDoors = (texts: Tree): string[] =>
  HALLS.flatMap((hall) => {
    const lines = texts.get(`${hall}/README.md`)?.trimEnd().split('\n').length
    if (lines === undefined) return [`${hall} has no README.md`]
    return lines > README_LINES_MAX ? [`${hall}/README.md has ${lines} lines, at most ${README_LINES_MAX}`] : []
  })
