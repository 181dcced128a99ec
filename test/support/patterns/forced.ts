/**
 * What a pattern may try in vain and match all the same. `a(?:.*b)?` finds each `a` of `aaaa` at once, but looks to the end
 * of the text each time: linear for one search, quadratic for all of `matchAll`, `replace` and `split`. So every way that a
 * pattern can do without is judged as if it had to be taken: each alternative alone, each group that may be left out once.
 */

type Term = { open: string; ways: Term[][]; count: string } | { text: string; count: string }
type Group = Extract<Term, { ways: unknown }>
/** Of which alternatives only one stands, and which groups stand once. */
type Choice = { only: ReadonlyMap<Term[][], number>; once: ReadonlySet<Term> }

const OPEN = /\((?:\?(?::|<?[=!]|<[^>]*>))?/y
const ATOM = /\\[pPuxk]\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\.|\[(?:\\.|[^\]\\])*\]|./suy
const COUNT = /(?:[*+?]|\{\d+,?\d*\})\??/y
const MAY_BE_LEFT_OUT = /^(?:[*?]|\{0,)/
const LOOKS_ONLY = /^\(\?<?[=!]/

const parse = (source: string): Term[][] => {
  let at = 0
  const next = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const text = pattern.exec(source)?.[0] ?? ''
    at += text.length
    return text
  }
  const readWays = (): Term[][] => {
    const ways: Term[][] = [[]]
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        ways.push([])
        at++
      } else ways.at(-1)?.push(readTerm())
    }
    return ways
  }
  const readTerm = (): Term => {
    const open = next(OPEN)
    if (open === '') return { text: next(ATOM), count: next(COUNT) }
    const ways = readWays()
    at++
    return { open, ways, count: next(COUNT) }
  }
  return readWays()
}

const written = (ways: Term[][], choice: Choice): string => {
  const only = choice.only.get(ways)
  const shown = only === undefined ? ways : ways.slice(only, only + 1)
  return shown.map((terms) => terms.map((term) => termOf(term, choice)).join('')).join('|')
}
const termOf = (term: Term, choice: Choice): string => {
  const count = choice.once.has(term) ? '' : term.count
  return 'text' in term ? term.text + count : `${term.open}${written(term.ways, choice)})${count}`
}

/** The ways of this part of a pattern, each forced together with all around it. */
const choicesOf = (ways: Term[][], { only, once }: Choice): Choice[] =>
  ways.flatMap((terms, index) => {
    const choice = ways.length > 1 ? { only: new Map([...only, [ways, index]]), once } : { only, once }
    const inner = terms.flatMap((term) =>
      'ways' in term && !LOOKS_ONLY.test(term.open) ? choicesOfGroup(term, choice) : [],
    )
    return ways.length > 1 ? [choice, ...inner] : inner
  })
const choicesOfGroup = (group: Group, choice: Choice): Choice[] => {
  if (!MAY_BE_LEFT_OUT.test(group.count)) return choicesOf(group.ways, choice)
  const forced = { only: choice.only, once: new Set([...choice.once, group]) }
  return [forced, ...choicesOf(group.ways, forced)]
}

/** The pattern with one of its ways forced, once for each way. */
export const forcedForms = (source: string): string[] => {
  const top = parse(source)
  const forms = choicesOf(top, { only: new Map(), once: new Set() }).map((choice) => written(top, choice))
  return [...new Set(forms)].filter((form) => form !== source)
}
