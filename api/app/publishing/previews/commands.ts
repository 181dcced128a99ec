/** Asking for a preview, and for its end before its time. The first is decided once its controller has taken it up; what becomes of its release it shows itself. */
import { APP } from '../../../../crds/app/kind.ts'
import type { AppView } from '../../../../crds/app/view.ts'
import { type Command, type GenerationGoal, judgeGeneration } from '../../../command/command.ts'
import { deleting } from '../../../command/resource.ts'
import { refuseStalled } from '../../../command/verdict.ts'
import type { AnsweringApp } from '../../needs.ts'
import { previewPath, viewPreview } from './shown.ts'

/**
 * `isUnseen`: no view of it was there yet, so that it lacks one says nothing. `password`: the version of one that the platform made,
 * which is told to whoever asked; null where none was made.
 */
type PreviewGoal = GenerationGoal & { parent: string; isNew: boolean; isUnseen: boolean; password: number | null }

/** What it asks for is not its own to have. Whatever else stalls it, a host that is away or a release that failed, it shows itself: it was made. */
const REFUSALS: ReadonlySet<string> = new Set([
  'BAD_PREVIEW',
  'PASSWORD_REQUIRED',
  'PREVIEW_LIMIT',
  'PREVIEW_TAKEN',
  'SLUG_TAKEN',
])

export const createPreviewCommand: Command<PreviewGoal, AppView, AnsweringApp> = {
  name: 'app.preview',
  kind: APP,
  judge: (goal, row) => (row === undefined && goal.isUnseen ? 'pending' : judgeGeneration(goal, row)),
  async answer({ previews, keys, now }, _asking, { parent, isNew, password }, row) {
    if (row === undefined) return null
    if (REFUSALS.has(row.view.stalled?.code ?? '')) refuseStalled(row)
    const preview = await previews.one(parent, row.name)
    if (preview === null) return null
    const body = {
      preview: viewPreview(preview, row.view, now()),
      app: row.view,
      ...(password !== null && { password: keys.password(row.name, password, password) }),
    }
    return { status: isNew ? 201 : 200, headers: { location: previewPath(parent, row.name) }, body }
  },
}

export const deletePreviewCommand = deleting('app.preview-delete', APP)
