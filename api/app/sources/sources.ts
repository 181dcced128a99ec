/** Uploads without a deploy, and what there is of them (rules/app.md#sources). */
import type { AppUpload } from '../../../controllers/store/app/sources.ts'
import { APP } from '../../../crds/app/kind.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { pagedAnswer, pageOf } from '../../openapi/paging.ts'
import { acceptUpload, storeUpload } from '../deploy.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

const viewUpload = ({ digest, files, bytes, uploadedAt, recognised, git, releases }: AppUpload) => ({
  digest,
  files,
  bytes,
  created_at: uploadedAt,
  recognised,
  git,
  releases,
})

/** Stores what is sent, judged as a deploy of it would be; a deploy or a manifest names it by its digest. */
export const uploadSource = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { upload } = await acceptUpload(deps, request, row)
  await storeUpload(deps, request.caller, row, upload)
  // A manifest may have named it before it was there.
  await deps.wake(APP, row.name)
  const stored = await deps.uploads.one(row.name, upload.digest)
  if (!stored) throw new Error(`upload ${upload.digest} went as soon as it had come`)
  const recognised = upload.recognised ?? stored.recognised
  return { status: 201, body: { source: { ...viewUpload(stored), recognised } } }
}

export const listSources = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name, account } = await apps.find(deps, request)
  const page = pageOf(request)
  const [{ uploads, total }, stored] = await Promise.all([deps.uploads.list(name, page), deps.uploads.stored(account)])
  return pagedAnswer('sources', { items: uploads.map(viewUpload), total, more: { account: stored } }, page)
}
