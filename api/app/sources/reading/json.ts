/**
 * An upload in its JSON form. Contents are long texts: they stay the bytes that were sent until they are gone through, and only
 * what is left of the body without them becomes values.
 */
import { WRITTEN_COMPOSE } from '../../../../crds/app/recognise/project.ts'
import { COMPOSE_NAMES } from '../../../../crds/app/sources/source.ts'
import { pointerSegment } from '../../../../crds/values/pointer.ts'
import { Problem } from '../../../http/problem.ts'
import { isJsonType, jsonOf, survey } from '../../../http/reading/json.ts'
import { BACKSLASH, type Lifted, lift } from '../../../http/reading/longtexts.ts'
import { type Files, type FlowingFile, flowingFiles } from '../../../io/archive.ts'
import { base64In } from './base64.ts'
import { plainFile } from './contents.ts'
import { refuseUpload as refuse } from './refusal.ts'

const MODES: Readonly<Record<string, number>> = { '644': 0o644, '0644': 0o644, '755': 0o755, '0755': 0o755 }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const knownKeys = (value: Record<string, unknown>, known: readonly string[], pointer: string): void => {
  const extra = Object.keys(value).find((key) => !known.includes(key))
  if (extra === undefined) return
  const detail = `There is no field ${JSON.stringify(extra.slice(0, 60))}; known are ${known.join(' and ')}.`
  const at = `${pointer}/${pointerSegment(extra.slice(0, 128))}`
  throw new Problem('UNKNOWN_FIELD', detail, { faults: [{ code: 'UNKNOWN_FIELD', pointer: at, detail }] })
}

/** The characters of a text, each a byte: null for what is none. Escapes, as the \\/ of some writers, are undone each time anew. */
const charactersOf = (value: unknown, { textOf }: Lifted): (() => Buffer) | null => {
  if (typeof value !== 'string') return null
  const long = textOf(value)
  if (long === null) return () => Buffer.from(value, 'utf8')
  const inner = long.subarray(1, -1)
  if (!inner.includes(BACKSLASH)) return () => inner
  return () => Buffer.from(JSON.parse(long.toString('utf8')) as string, 'utf8')
}

const contentOf = (pointer: string, value: unknown, lifted: Lifted): Pick<FlowingFile, 'bytes' | 'content'> => {
  const characters = charactersOf(value, lifted)
  const content = characters && base64In(characters)
  return content ?? refuse('BAD_ARCHIVE', pointer, 'The content is not base64, with its padding.')
}

/** `files`: path → base64, or `{base64, mode}`. */
const fileOf = (path: string, value: unknown, lifted: Lifted): FlowingFile => {
  const pointer = `/files/${pointerSegment(path.slice(0, 512))}`
  if (!isRecord(value)) return { path, mode: 0o644, ...contentOf(pointer, value, lifted) }
  knownKeys(value, ['base64', 'mode'], pointer)
  const mode = value.mode === undefined ? 0o644 : MODES[String(value.mode)]
  if (mode === undefined) return refuse('BAD_ARCHIVE', `${pointer}/mode`, 'The mode is neither "644" nor "755".')
  return { path, mode, ...contentOf(`${pointer}/base64`, value.base64, lifted) }
}

const composeOf = async (value: unknown, lifted: Lifted, contentType: string | undefined): Promise<FlowingFile> => {
  const long = typeof value === 'string' ? lifted.textOf(value) : null
  const text = long === null ? value : await jsonOf(long, contentType)
  if (typeof text !== 'string') return refuse('NO_COMPOSE_FILE', '/compose', 'compose is the text of the compose file.')
  const { content, ...file } = plainFile({ path: WRITTEN_COMPOSE, text })
  return { ...file, bytes: content.length, content: () => [content] }
}

/** @throws Problem */
export const jsonFiles = async (bytes: Buffer, contentType: string | undefined): Promise<Files> => {
  // said of the body as it was sent
  const lifted = lift(bytes, isJsonType(contentType ?? '') ? await survey(bytes) : [])
  const body = await jsonOf(lifted.rest, contentType)
  if (!isRecord(body)) return refuse('BAD_ARCHIVE', '', 'The body is no object with compose and files.')
  knownKeys(body, ['compose', 'files'], '')
  const { compose, files = {} } = body
  const written = compose === undefined ? [] : [await composeOf(compose, lifted, contentType)]
  if (!isRecord(files)) return refuse('BAD_ARCHIVE', '/files', 'files is an object of paths.')
  const given = Object.entries(files).map(([path, value]) => fileOf(path, value, lifted))
  const twice = compose !== undefined && COMPOSE_NAMES.find((name) => Object.hasOwn(files, name))
  if (twice) return refuse('BAD_ARCHIVE', `/files/${twice}`, 'The compose file is given twice.')
  return flowingFiles([...written, ...given])
}
