/** An earlier release again: as it ran, or, where its images are gone, built anew from what was uploaded (rules/app.md#sources). */
import type { Answer, ApiRequest } from '../../http/route.ts'
import { acceptUpload, deployAccepted } from '../deploy.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'
import { appliedEnv, envDiff, NOT_UNDONE, type RollbackBody, releaseOf, rollbackApp } from './rollback.ts'

/** @throws Problem UNKNOWN_RELEASE, UNKNOWN_SOURCE, and as a deploy of it is refused */
const rebuild = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { release: wanted, env = 'release' } = request.body as RollbackBody
  const { number, source, envVersion } = await releaseOf(deps, row.name, wanted)
  const applied = await appliedEnv(deps, row.name)
  const version = env === 'release' ? envVersion : applied
  const accepted = await acceptUpload(deps, request, row, { digest: source, env: version })
  const diff = await envDiff(deps, row.name, applied, version)
  return deployAccepted(deps, request, row, accepted, { rebuilt_from: number, env_diff: diff, notes: [NOT_UNDONE] })
}

export const restoreRelease = (deps: AppNeeds, request: ApiRequest): Promise<Answer> =>
  (request.body as RollbackBody).rebuild === true ? rebuild(deps, request) : rollbackApp(deps, request)
