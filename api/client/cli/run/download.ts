/** Bytes of an answer into a new file, held against the digest that came with them (RFC 9530). */
import { createHash } from 'node:crypto'
import { createWriteStream, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { CommandContext } from '../context.ts'
import { EXIT, type ExitCode, GaveUp, UsageFault } from '../net/outcome.ts'

const SUM = /^sha-256=:([A-Za-z0-9+/=]+):$/

/** What is there under the name of the file is whole, or as it was before. */
export const runDownload = async (context: CommandContext): Promise<ExitCode> => {
  const { api, command, terminal, words } = context
  const [backup, file, over] = words
  if (backup === undefined || file === undefined || over !== undefined)
    throw new UsageFault(`${command.name} takes a backup and the file that it is written to.`)
  const id = await context.subject()
  const path = `/api/apps/${encodeURIComponent(id)}/backups/${encodeURIComponent(backup)}/content`
  const answer = await api.stream({ method: 'GET', path, headers: { accept: 'application/gzip' } })
  const partial = `${file}.partial`
  const hash = createHash('sha256')
  let bytes = 0
  try {
    await pipeline(
      answer,
      async function* (source: AsyncIterable<Buffer>) {
        for await (const piece of source) {
          hash.update(piece)
          bytes += piece.length
          yield piece
        }
      },
      createWriteStream(partial, { flags: 'wx', mode: 0o600 }),
    )
    const wanted = SUM.exec(String(answer.headers['repr-digest'] ?? ''))?.[1]
    if (hash.digest('base64') !== wanted) throw new Error('what came is not what its digest says')
    await rename(partial, file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') rmSync(partial, { force: true })
    throw new GaveUp(`${file} was not written: ${message}.`, EXIT.failed)
  }
  if (terminal.isJson) terminal.json({ backup, file, bytes })
  else terminal.say(`${file}: ${bytes} bytes`)
  return EXIT.ok
}
