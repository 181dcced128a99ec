/** Files that pages are made with, named by a hash of their text: what is cached for ever is never old. */
import { createHash } from 'node:crypto'
import type { Answer } from '../http/route.ts'
import { BASE_CSS } from './style.ts'

/** `path`: where it is served, from the root of the host. */
export type Sheet = { path: string; css: string }

const HASH_LENGTH = 16

/** The base, and what one family of pages adds to it. @param folder below which it is served, as `/review/assets` */
export const makeSheet = (folder: string, name: string, rules = ''): Sheet => {
  const css = `${BASE_CSS}\n${rules}`
  const hash = createHash('sha256').update(css).digest('hex').slice(0, HASH_LENGTH)
  return { path: `${folder}/${name}-${hash}.css`, css }
}

/** The handler that serves a sheet. */
export const showSheet =
  ({ css }: Sheet) =>
  async (): Promise<Answer> => ({
    status: 200,
    bytes: Buffer.from(css, 'utf8'),
    headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=31536000, immutable' },
  })
