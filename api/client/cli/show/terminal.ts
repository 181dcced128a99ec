/**
 * What is written where: results go to stdout, everything about the way there to stderr. Text that came over the network is
 * shown with its control characters made visible, so that it cannot move the cursor, paint, or hide what stands in it.
 */

/** Control characters; and marks that reorder or hide text (CVE-2021-42574). */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu
const PAINT = /\p{Cc}\[[0-9;]{0,32}m/gu
const COLOURS = { red: 31, green: 32, yellow: 33, bold: 1, dim: 2 } as const
export type Colour = keyof typeof COLOURS
/** Away from a terminal a counter is told this often. */
const PLAIN_EVERY_MS = 5_000

const escaped = (char: string): string =>
  char === '\n' || char === '\t' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Colours that an app writes into its log are dropped; all else that is not text is shown as an escape. */
export const visible = (text: string): string =>
  text
    .replace(PAINT, '')
    .replace(/\r(?=\n|$)/g, '')
    .replace(UNSEEN, escaped)

/** One line, at most so long. */
export const oneLine = (text: string, maxChars: number): string => {
  const line = visible(text)
    .split('\n')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ')
  return line.length > maxChars ? `${line.slice(0, maxChars - 1)}…` : line
}

/** JSON whose strings hold nothing that a terminal acts upon; it parses to the same. */
export const safeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(UNSEEN, escaped)

export type Terminal = {
  isJson: boolean
  /** A line of the result. */
  out(line: string): void
  /** The result as one document, or one line of a stream of them. */
  json(value: unknown, more?: { line: boolean }): void
  /** A line that is told whatever is asked to be quiet. */
  fail(line: string): void
  /** A line about the way there. */
  say(line: string): void
  /** What passes: overwritten on a terminal, told now and then elsewhere. */
  passing(line: string): void
  paint(colour: Colour, text: string): string
}

export type TerminalStreams = {
  stdout: { write(text: string): unknown; isTTY?: boolean }
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number }
}

export const makeTerminal = (
  { stdout, stderr }: TerminalStreams,
  { isJson, isQuiet, noColour, nowMs }: { isJson: boolean; isQuiet: boolean; noColour: boolean; nowMs(): number },
): Terminal => {
  let isPassing = false
  let saidMs = Number.NEGATIVE_INFINITY
  const clear = () => {
    if (isPassing) stderr.write('\r\u001b[2K')
    isPassing = false
  }
  const paints = !noColour && stdout.isTTY === true && stderr.isTTY === true
  return {
    isJson,
    out(line) {
      clear()
      stdout.write(`${line}\n`)
    },
    json(value, { line } = { line: false }) {
      clear()
      stdout.write(`${safeJson(value, line ? undefined : 2)}\n`)
    },
    fail(line) {
      clear()
      stderr.write(`${line}\n`)
    },
    say(line) {
      clear()
      if (!isQuiet) stderr.write(`${line}\n`)
    },
    passing(line) {
      if (isQuiet) return
      if (stderr.isTTY === true) {
        clear()
        stderr.write(oneLine(line, Math.max(20, (stderr.columns ?? 80) - 1)))
        isPassing = true
      } else if (nowMs() - saidMs >= PLAIN_EVERY_MS) {
        saidMs = nowMs()
        stderr.write(`${oneLine(line, 400)}\n`)
      }
    },
    paint: (colour, text) => (paints ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text),
  }
}
