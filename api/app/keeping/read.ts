/** GET and DELETE of backups. */
import type { AppBackup } from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { viewBackup } from '../../../crds/app/lifecycle/keeping/backups/view.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { pagedAnswer, pageOf } from '../../openapi/paging.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

/** The one that the path names, of the caller's app. @throws Problem NOT_FOUND */
export const backupOf = async (deps: AppNeeds, request: ApiRequest) => {
  const row = await apps.find(deps, request)
  const id = request.params.backup ?? ''
  const backup = await deps.backups.one(id)
  if (backup?.app !== row.name) throw new Problem('NOT_FOUND', `There is no backup ${id} of this app.`)
  return { row, backup }
}

export const listBackups = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name } = await apps.find(deps, request)
  const page = pageOf(request)
  const { backups, total } = await deps.backups.list(name, request.query.volume ?? null, page)
  return pagedAnswer('backups', { items: backups.map(viewBackup), total }, page)
}

export const getBackup = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { backup: viewBackup((await backupOf(deps, request)).backup) },
})

/** What is whole. @throws Problem BACKUP_NOT_READY */
export const wholeOf = ({ id, state, packed }: AppBackup) => {
  if (state !== 'succeeded' || packed === null) throw new Problem('BACKUP_NOT_READY', `${id} is ${state}.`)
  return packed
}

/** The archive as its host packed it, piece by piece: no more than one piece is held at once. */
export const getContent = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { row, backup } = await backupOf(deps, request)
  const { bytes, sha256 } = wholeOf(backup)
  const day = backup.createdAt.slice(0, 10)
  return {
    status: 200,
    headers: {
      'content-type': 'application/gzip',
      'content-length': String(bytes),
      'content-disposition': `attachment; filename="${row.view.slug}-${backup.volume}-${day}.tar.gz"`,
      etag: `"${sha256}"`,
      'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
    },
    stream: deps.backups.content(backup.id),
  }
}

export const deleteBackup = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { row, backup } = await backupOf(deps, request)
  const outcome = await deps.backups.delete(row.name, backup.id)
  if (outcome === 'in use') throw new Problem('BACKUP_IN_USE', `${backup.id} is under way, or is being restored.`)
  return { status: 204 }
}
