/** What clients fetch: the one-file client, and the skill that tells an agent how to use it. Both hold no secret. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Route } from '../wiring/route.ts'

type Served = { bytes: Buffer; sha256: Buffer }

/** Read once: the files come with the version. */
const kept = new Map<string, Served>()

const served = (name: string): Served => {
  const known = kept.get(name)
  if (known) return known
  const bytes = readFileSync(join(import.meta.dirname, name))
  const read = { bytes, sha256: createHash('sha256').update(bytes).digest() }
  kept.set(name, read)
  return read
}

/** The digest is shown twice: as ETag, and in the form of RFC 9530; `bottega.mjs version` and the skill say the same. */
const answerWith =
  (name: string, contentType: string) =>
  async (_deps: unknown, { headers }: ApiRequest): Promise<Answer> => {
    const { bytes, sha256 } = served(name)
    const etag = `"${sha256.toString('hex')}"`
    const shown = {
      etag,
      'repr-digest': `sha-256=:${sha256.toString('base64')}:`,
      'cache-control': 'public, max-age=300',
      'content-type': contentType,
    }
    const asked = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
    return asked.includes(etag) ? { status: 304, headers: shown } : { status: 200, headers: shown, bytes }
  }

const open = { hidden: true, scope: { kind: 'public', limit: 'file' }, method: 'GET' } as const

export const clientRoutes: Route<unknown>[] = [
  {
    ...open,
    path: '/client/bottega.mjs',
    summary: 'The client, as one file',
    handle: answerWith('bottega.mjs', 'text/javascript; charset=utf-8'),
  },
  {
    ...open,
    path: '/client/SKILL.md',
    summary: 'How an agent uses the client',
    handle: answerWith('SKILL.md', 'text/markdown; charset=utf-8'),
  },
]
