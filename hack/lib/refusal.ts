/**
 * An error that a person reads: one sentence with the next step, printed without a stack. `detail` (the tail of a log,
 * say) is printed above it.
 */
export class CommandRefusal extends Error {
  readonly detail: string
  readonly exitCode: number

  constructor(sentence: string, { detail = '', exitCode = 1, cause }: RefusalOptions = {}) {
    super(sentence, cause === undefined ? {} : { cause })
    this.name = 'Refusal'
    this.detail = detail
    this.exitCode = exitCode
  }
}

type RefusalOptions = { detail?: string; exitCode?: number; cause?: unknown }

/** Runs a command's main function and turns its ending into an exit code: a Refusal is printed plainly, a bug with its stack. */
export async function runCommand(main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main()
  } catch (error) {
    process.exitCode = error instanceof CommandRefusal ? error.exitCode : 1
    if (error instanceof CommandRefusal) console.error(`${error.detail ? `${error.detail}\n` : ''}✗ ${error.message}`)
    else console.error(error)
  }
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The `code` that Node and pg put on their errors (ENOENT, 57P01, …), or an empty string. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}
