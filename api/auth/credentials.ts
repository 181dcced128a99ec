/** Credentials in texts of others. */

/** What credentials are made of: none of them reaches beyond a run of these. */
const RUN = /[\w.-]+/g
const HEADS = /btg_|whsec_|dbr_|eyJ/g
const SHOWN = '[credential]'
/** Characters after the head; fewer are a word of a sentence. */
const SECRET_MIN = 8

const endOfPart = (run: string, at: number): number => {
  const dot = run.indexOf('.', at)
  return dot < 0 ? run.length : dot
}

/** Where the part that `at` is in ends, and the two parts behind it. Parts have dots between them. */
type Ends = { first: number; second: number; third: number }
const endsFrom = (run: string, at: number): Ends => {
  const first = endOfPart(run, at)
  const second = endOfPart(run, first + 1)
  return { first, second, third: endOfPart(run, second + 1) }
}

/** Three parts in base64url, the first of which begins as JSON does. */
const isJwt = (run: string, from: number, { first, second, third }: Ends): boolean =>
  first - from >= SECRET_MIN && second > first + 1 && second < run.length && third > second + 1

const SIGN = /[\w.-]/

/** Where the run that the sign before `at` is in begins; `at` where that sign is in none. What is cut there cuts no credential in two. */
export const startOfRun = (text: string, at: number): number => {
  let start = at
  while (start > 0 && SIGN.test(text[start - 1] ?? '')) start--
  return start
}

/** Without the dots and dashes at its end. */
const lengthOfWords = (run: string): number => {
  let end = run.length
  while (end > 0 && /[.-]/.test(run[end - 1] ?? '')) end--
  return end
}

/** Looks at a run from its beginning to its end once, however many heads stand in it. */
const blotted = (run: string): string => {
  const shown: string[] = []
  const wordsEnd = lengthOfWords(run)
  let ends = endsFrom(run, 0)
  let at = 0
  for (const { 0: head, index } of run.matchAll(HEADS)) {
    const from = index + head.length
    if (from > ends.first) ends = endsFrom(run, from)
    const end = head === 'eyJ' ? ends.third : head === 'dbr_' ? wordsEnd : ends.first
    const isSecret = head === 'eyJ' ? isJwt(run, from, ends) : end - from >= SECRET_MIN
    if (index < at || !isSecret) continue
    shown.push(run.slice(at, index), SHOWN)
    at = end
  }
  return shown.join('') + run.slice(at)
}

/** A client may paste a credential where a name belongs; what repeats or records that place blots it out. */
export const withoutCredentials = (text: string): string => text.replace(RUN, blotted)
