/** A deploy or an upload that names a branch of a repository: its files are fetched and taken like any that are sent (rules/app.md#sources). */
import type { GitNamed } from '../../../crds/app/sources/source.ts'
import { refuseFaults } from '../../http/problem.ts'
import type { ApiRequest } from '../../http/route.ts'
import { fetchCommit, type GitLogin } from '../../io/git/fetch.ts'
import type { AppNeeds } from '../needs.ts'
import { sentPack } from './reading/reader.ts'
import { asRefusal } from './reading/refusal.ts'
import type { NamedFilesOf, Upload } from './upload.ts'

const URL_MAX = 500
/** git-check-ref-format, the part of it that anybody uses. */
const REF = /^[A-Za-z0-9_][\w./+-]{0,199}$/
const NO_REF = /\.\.|\/\/|\.lock$|\/$/

const refuse = (pointer: string, detail: string): void => refuseFaults([{ code: 'INVALID_FIELD', pointer, detail }])

/** @throws Problem INVALID_FIELD, UNKNOWN_FIELD */
export const gitNamed = (given: unknown): GitNamed => {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse('/git', 'git is an object of url and ref.')
  const { url, ref = 'HEAD', ...rest } = given as { url: unknown; ref?: unknown } & Record<string, unknown>
  const extra = Object.keys(rest)[0]
  if (extra !== undefined) {
    const detail = `There is no field ${JSON.stringify(extra.slice(0, 60))} in git; known are url and ref.`
    refuseFaults([{ code: 'UNKNOWN_FIELD', pointer: `/git/${extra.slice(0, 128)}`, detail }])
  }
  const parsed = typeof url === 'string' && url.length <= URL_MAX ? URL.parse(url) : null
  const isPlain =
    parsed !== null &&
    /^https?:$/.test(parsed.protocol) &&
    `${parsed.username}${parsed.password}${parsed.search}${parsed.hash}` === ''
  if (!isPlain)
    refuse('/git/url', 'url is the address of a repository over https, without a login, a query or a fragment.')
  if (typeof ref !== 'string' || !REF.test(ref) || NO_REF.test(ref))
    refuse('/git/ref', 'ref is a branch, a tag or a whole commit.')
  return { url: String(url), ref: String(ref) }
}

/** Logins are kept by their host, as those for registries. */
const loginFor = async (deps: Pick<AppNeeds, 'registries'>, account: string, url: string): Promise<GitLogin | null> => {
  const { host } = new URL(url)
  const logins = await deps.registries.open(account)
  return logins.find((login) => login.host === host) ?? null
}

/** What is fetched is held for the caller as a body would be. @throws Problem GIT_FAILED, and as an upload is refused */
export const fetchedUpload = async (
  { uploadReader, egress, ...deps }: AppNeeds,
  { caller, meter }: ApiRequest,
  { url, ref }: GitNamed,
  namedFiles: NamedFilesOf,
): Promise<Upload> => {
  const login = await loginFor(deps, caller.account, url)
  const fetch = () => fetchCommit(egress, { url, ref, login, onBytes: meter })
  const { commit, answer } = await uploadReader.fetching(caller.account, fetch).catch((error: unknown) => {
    throw asRefusal(error, url)
  })
  const upload = await uploadReader.read(sentPack(answer, { url, commit }), caller, namedFiles)
  return { ...upload, git: { url, ref, commit } }
}
