/** What a deploy names instead of sending it: an upload of before, or a repository (rules/app.md#sources). */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import type { GitNamed } from '../../../crds/app/sources/source.ts'
import type { AppView } from '../../../crds/app/view.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import { isJsonType, jsonOf } from '../../http/reading/json.ts'
import type { ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { fetchedUpload, gitNamed } from './git.ts'
import { sentBody } from './reading/reader.ts'
import type { NamedFilesOf, Upload } from './upload.ts'

const DIGEST = /^[0-9a-f]{64}$/
/** A longer body sends files. */
const NAMING_MAX_BYTES = 4_096

/** What a body names: an upload of before, with the version of the env that it is judged with, or a repository. */
export type Named = { digest: string; env?: number | null } | { git: GitNamed }

const digestIn = (source: unknown): string => {
  if (typeof source !== 'string' || !DIGEST.test(source)) {
    const detail = 'source is the digest of an upload: 64 characters of 0-9 a-f.'
    refuseFaults([{ code: 'INVALID_FIELD', pointer: '/source', detail }])
  }
  return String(source)
}

/** Null where the body is a project. @throws Problem INVALID_FIELD, UNKNOWN_FIELD, MALFORMED_JSON */
export const namedIn = async ({ form, headers }: Pick<ApiRequest, 'form' | 'headers'>): Promise<Named | null> => {
  const contentType = headers['content-type']
  if (!form || form.length > NAMING_MAX_BYTES || !isJsonType(contentType ?? '')) return null
  const body = await jsonOf(form, contentType)
  if (typeof body !== 'object' || body === null) return null
  const word = (['source', 'git'] as const).find((one) => Object.hasOwn(body, one))
  if (word === undefined) return null
  const extra = Object.keys(body).find((key) => key !== word)
  if (extra !== undefined) {
    const detail = `There is no field ${JSON.stringify(extra.slice(0, 60))} beside ${word}.`
    refuseFaults([{ code: 'UNKNOWN_FIELD', pointer: `/${extra.slice(0, 128)}`, detail }])
  }
  const given = (body as Record<string, unknown>)[word]
  return word === 'source' ? { digest: digestIn(given) } : { git: gitNamed(given) }
}

/** What is sent, of which the request keeps nothing, or what the body names. @throws Problem as it is refused */
export const uploadOf = async (
  deps: AppNeeds,
  request: ApiRequest,
  given: { row: MirrorRow<AppView>; named: Named | null; namedFiles: NamedFilesOf },
): Promise<Upload> => {
  const { row, named, namedFiles } = given
  if (named === null) {
    const sent = sentBody(request.form, request.headers['content-type'])
    return deps.uploadReader.read(sent, request.caller, namedFiles)
  }
  return 'git' in named ? fetchedUpload(deps, request, named.git, namedFiles) : storedUpload(deps, row, named.digest)
}

/** An upload of before as it was read then. @throws Problem UNKNOWN_SOURCE */
const storedUpload = async (deps: AppNeeds, row: MirrorRow<AppView>, digest: string): Promise<Upload> => {
  const [known, index] = await Promise.all([
    deps.apps.source(row.account, digest),
    deps.releases.indexOf(row.account, digest),
  ])
  if (!known || !index) throw new Problem('UNKNOWN_SOURCE', `There is no upload ${digest} of this account.`)
  return {
    index,
    recognised: null,
    digest,
    bytes: known.bytes,
    files: known.files,
    pack: null,
  }
}
