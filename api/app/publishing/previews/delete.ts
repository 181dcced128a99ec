/** DELETE …/previews/:preview: its end before its time. */
import { APP } from '../../../../crds/app/kind.ts'
import type { AppSpec } from '../../../../crds/app/schema.ts'
import { editSpec } from '../../../command/edit.ts'
import { sameOwner } from '../../../command/own.ts'
import type { Answer, ApiRequest } from '../../../http/route.ts'
import type { AppNeeds } from '../../needs.ts'
import { apps } from '../../read.ts'
import { deletePreviewCommand } from './commands.ts'
import { giveBack, hasCome } from './laid.ts'
import { previewOf } from './shown.ts'

export const deletePreview = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { row: parent, preview } = await previewOf(deps, request)
  if (preview.endedAt !== null) return { status: 204 }
  const isShown = (await deps.mirror.get(APP, preview.app, sameOwner(parent))) !== undefined
  // of one that is no app yet, and may never be one, there is only what was laid ready
  if (!isShown && !(await hasCome(deps, parent, preview))) {
    await giveBack(deps, preview.app)
    return { status: 204 }
  }
  const row = await apps.find(deps, { caller: request.caller, params: { id: preview.app } })
  // whoever made it by kubectl may have left it at the default
  const before = () =>
    editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, ({ volumesOnDelete }) =>
      volumesOnDelete === 'delete' ? null : { volumesOnDelete: 'delete' },
    )
  return apps.delete(deps, request, { row, command: deletePreviewCommand, before })
}
