/** What is laid ready for a preview before it is an app: whoever asked for it may have gone in between, and never come back. */
import { isNotFound } from '../../../../controllers/base/errors.ts'
import type { MirrorRow } from '../../../../controllers/store/mirror.ts'
import { APP } from '../../../../crds/app/kind.ts'
import type { PreviewRow } from '../../../../crds/app/lifecycle/publishing/previewed.ts'
import { readOwn } from '../../../command/make.ts'
import { sameOwner } from '../../../command/own.ts'
import type { AppNeeds } from '../../needs.ts'

/** Whether it is an app, as the API server says. @param row of the app that it is of  @throws KubeError */
export const hasCome = async (
  deps: AppNeeds,
  row: Pick<MirrorRow<unknown>, 'account'>,
  { app }: PreviewRow,
): Promise<boolean> => {
  try {
    await readOwn(deps, { kind: APP, name: app, whose: sameOwner(row) })
    return true
  } catch (error) {
    if (!isNotFound(error)) throw error
    return false
  }
}

/** Its room, its name and its place, where no app has come of it. */
export const giveBack = async ({ apps: store, previews }: AppNeeds, name: string): Promise<void> => {
  await store.giveBackRoom(name)
  await store.giveBackSlug(name)
  await previews.giveBack(name)
}
