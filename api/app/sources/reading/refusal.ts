/** Why what was sent, or fetched, is not taken: as the answer that REST gives. */
import { Problem } from '../../../http/problem.ts'
import { GitRefused, GitTooLarge } from '../../../io/git/packets.ts'
import { ArchiveRefused } from '../../../io/intake.ts'

export const refuseUpload = (code: 'BAD_ARCHIVE' | 'NO_COMPOSE_FILE', pointer: string, detail: string): never => {
  throw new Problem(code, detail, { faults: [{ code, pointer, detail }] })
}

/** @param url of the repository that it was fetched from  @returns a Problem, or what is no refusal */
export const asRefusal = (error: unknown, url = ''): unknown => {
  if (error instanceof GitRefused) {
    const code = error instanceof GitTooLarge ? 'ARCHIVE_TOO_LARGE' : 'GIT_FAILED'
    return new Problem(code, `The repository ${url} ${error.message}.`)
  }
  if (!(error instanceof ArchiveRefused)) return error
  const { code, faults, message } = error
  return new Problem(code, message, faults.length === 0 ? {} : { faults: faults.map((fault) => ({ code, ...fault })) })
}
