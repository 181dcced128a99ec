/**
 * The line of a log that tells why: what a person would look for in it. Tools say the same thing in many places and sum it up in
 * words that tell nothing; the line that names the cause comes first here, and what only says that something failed comes last.
 * Source: outputs of the tools themselves, in test/crds/app/failing.test.ts. Pure.
 */

/** Characters of it that are told. */
const TOLD_MAX = 300

/** `first`: where a tool goes on after the cause; else the last one is the cause. */
type Sign = { pattern: RegExp; weight: number; isFirst?: true }

/** Lines that stand beside the cause and never are it. */
const BESIDE: readonly RegExp[] = [
  /^npm (?:ERR!|error) (?:A complete log|This is probably not|There is likely|For a full report|errno\b|path\b|command\b|\/)/,
  /^npm (?:ERR!|error)\s*$/,
  /^\s+at /,
  /^Node\.js v\d/,
  /^\s*[{}[\]()^~|-]+\s*$/,
  /^\[ERROR\] (?:\[Help|To see the full|Re-run Maven|For more information|-> \[Help|$)/,
  /^Traceback \(most recent call last\)/,
  /^ {2}File "/,
  /^\[(?:notice|INFO)\]/,
  /^(?:note|help|hint|warning|WARN|WARNING)\b/i,
  /^For more information about this error/,
  /^ELIFECYCLE|\bELIFECYCLE\b/,
  /^Found \d+ errors?\b/,
  /^---/,
  /^go: (?:downloading|finding|extracting) /,
]

const SIGNS: readonly Sign[] = [
  // What ended it from outside.
  { pattern: /\btook more memory than the app may use\b/, weight: 100 },
  { pattern: /\bheap out of memory\b|\bjava\.lang\.OutOfMemoryError\b|\bfatal error: out of memory\b/i, weight: 95 },
  { pattern: /^The build was ended: /, weight: 95 },
  { pattern: /^Killed$|\bran out of memory\b|\bsignal: killed\b/, weight: 90 },
  { pattern: /\bno space left on device\b|\bENOSPC\b/i, weight: 95 },
  // Registries.
  { pattern: /\btoomanyrequests\b|\bpull rate limit\b/, weight: 90 },
  {
    pattern: /\bpull access denied\b|\bmanifest unknown\b|\bno matching manifest\b/,
    weight: 90,
  },
  { pattern: /\bfailed to resolve source metadata\b|\bunauthorized: /, weight: 85 },
  // Node.
  { pattern: /^npm (?:ERR!|error) missing script: /i, weight: 90 },
  { pattern: /\bERR_PNPM_[A-Z_]{1,60}\b/, weight: 90 },
  {
    pattern: /^npm (?:ERR!|error) (?:code E(?!LIFECYCLE)|Could not resolve|Cannot read|notarget|404|peer )/,
    weight: 60,
    isFirst: true,
  },
  {
    pattern:
      /^npm (?:ERR!|error) (?:404 Not Found|notarget No matching|Could not resolve dependency|`npm ci` can only)/,
    weight: 88,
    isFirst: true,
  },
  {
    pattern: /^(?:npm (?:ERR!|error) )?Error: Cannot find (?:module|package) |^Error \[ERR_MODULE_NOT_FOUND\]/,
    weight: 90,
    isFirst: true,
  },
  { pattern: /\berror TS\d{1,6}: /, weight: 85, isFirst: true },
  { pattern: /^(?:Type|Reference|Syntax|Range)Error: /, weight: 80, isFirst: true },
  { pattern: /\bEADDRINUSE\b|\baddress already in use\b/i, weight: 92, isFirst: true },
  {
    pattern: /\bECONNREFUSED\b|\bconnection refused\b|\bcould not translate host name\b|\bEAI_AGAIN\b|\bENOTFOUND\b/i,
    weight: 70,
  },
  {
    pattern: /^(?:npm (?:ERR!|error) )?(?:sh|\/bin\/sh|bash|exec): /,
    weight: 88,
  },
  // Python.
  { pattern: /^(?:ModuleNotFoundError|ImportError): /, weight: 90 },
  { pattern: /^ERROR: (?:No matching distribution|Could not find a version|Could not open requirements)/, weight: 85 },
  {
    pattern: /[a-z](?:Error|Exception|Denied|NotConfigured|DoesNotExist)(?:: |$)/,
    weight: 78,
  },
  // Databases and migrations.
  {
    pattern: /" (?:does not exist|already exists)/,
    weight: 88,
    isFirst: true,
  },
  { pattern: /\bpassword authentication failed\b|\bAccess denied for user\b/, weight: 88 },
  { pattern: /\bviolates (?:unique|foreign key|not-null|check) constraint\b|\bduplicate column name\b/i, weight: 85 },
  // Compilers.
  { pattern: /\.go:\d{1,7}:\d{1,5}: /, weight: 85, isFirst: true },
  { pattern: /^go: /, weight: 86 },
  { pattern: /^no required module provides package|: cannot find package/, weight: 85, isFirst: true },
  {
    pattern: /^error(?:\[E\d{4}\])?: (?!could not compile|aborting|process |failed to solve)/,
    weight: 84,
    isFirst: true,
  },
  { pattern: /^thread '[^']{1,80}' (?:\(\d{1,12}\) )?panicked at /, weight: 84, isFirst: true },
  { pattern: /^panic: /, weight: 86, isFirst: true },
  { pattern: /\.(?:java|kt|scala):\[\d{1,7},\d{1,5}\] /, weight: 86, isFirst: true },
  { pattern: /^\[ERROR\] Failed to execute goal /, weight: 70, isFirst: true },
  { pattern: /^Caused by: /, weight: 72 },
  { pattern: /^Exception in thread /, weight: 68, isFirst: true },
  { pattern: /\b(?:Gem::|Bundler::|ActiveRecord::|LoadError)\S{0,80}/, weight: 78, isFirst: true },
  // Engines.
  { pattern: /^Error response from daemon: /, weight: 80 },
  { pattern: /\bpermission denied\b/i, weight: 60 },
  { pattern: /\bno such file or directory\b/i, weight: 58 },
  { pattern: /": not found/, weight: 82 },
  // Anything that calls itself one.
  { pattern: /^\s*(?:fatal|panic|critical)\b/i, weight: 55 },
  { pattern: /^\s*(?:\[?error\]?|exception)\b/i, weight: 50 },
  { pattern: /\b(?:error|fatal|exception|cannot|could not|unable to)\b/i, weight: 40 },
  { pattern: /\bfailed\b/i, weight: 30 },
  // That a step failed tells what, and not why.
  { pattern: /\bdid not complete successfully\b|^(?:error: )?failed to solve\b/, weight: 20 },
]

/** `web 3/5 | text`, `web | text`: what a program said stands behind. */
const FROM = /^[a-zA-Z0-9._-]{1,80}(?: [a-zA-Z0-9._-]{1,60})?(?: \d{1,4}\/\d{1,4})? \| /
const INSTANT = /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| UTC| ?[+-]\d\d:?\d\d)?\]? /

type Seen = { text: string; weight: number; isFirst: boolean }

const weighed = (text: string): Seen | null => {
  if (text.trim() === '' || BESIDE.some((pattern) => pattern.test(text))) return null
  const fitting = SIGNS.filter(({ pattern }) => pattern.test(text))
  // What only says that something failed is no better for the word `error` in it.
  const summary = fitting.find(({ weight }) => weight === 20)
  const best =
    summary ?? fitting.reduce<Sign | null>((found, one) => (found && found.weight >= one.weight ? found : one), null)
  return { text, weight: best?.weight ?? 0, isFirst: best?.isFirst ?? false }
}

/** Whether a line says more than that something failed. */
export type FailingLine = { text: string; isNamed: boolean }

/**
 * @param lines of a log, as they may be shown (fold.ts)
 * @returns the line that tells why, without who said it; the last one that says anything where none does; null where nothing is said
 */
export const failingLine = (lines: readonly string[]): FailingLine | null => {
  let best: Seen | null = null
  for (const line of lines) {
    const seen = weighed(line.replace(FROM, '').replace(INSTANT, '').trimEnd())
    if (seen === null) continue
    const isBetter = best === null || seen.weight > best.weight || (seen.weight === best.weight && !seen.isFirst)
    if (isBetter) best = seen
  }
  if (best === null) return null
  const text = best.text.trim()
  return { text: text.length > TOLD_MAX ? `${text.slice(0, TOLD_MAX)}…` : text, isNamed: best.weight > 20 }
}
