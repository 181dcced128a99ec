/** What a manifest says of an app is not said over REST too: whoever applied it next would undo it (rules/app.md#one-writer). */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { APP } from '../../../crds/app/kind.ts'
import type { AppResource, AppSpec } from '../../../crds/app/schema.ts'
import { manifestOwner } from '../../../crds/app/sources/owners.ts'
import type { AppView } from '../../../crds/app/view.ts'
import { editSpec } from '../../command/edit.ts'
import { sameOwner } from '../../command/own.ts'
import { Problem } from '../../http/problem.ts'
import type { AppNeeds } from '../needs.ts'

/** What chooses a release. */
export const RELEASE_FIELDS = ['source', 'restore'] as const

/** @param fields of the spec that are about to be written @throws Problem FIELD_IN_MANIFEST */
export const refuseManifested = (
  { spec, metadata }: Pick<AppResource, 'spec' | 'metadata'>,
  fields: readonly string[],
): void => {
  const set = fields.filter((field) => spec[field as keyof AppSpec] !== undefined)
  const owner = manifestOwner((metadata as { managedFields?: unknown }).managedFields, set)
  if (owner === null) return
  const detail = `spec.${owner.field} of this app is written by ${JSON.stringify(owner.manager)}, which would undo it.`
  throw new Problem('FIELD_IN_MANIFEST', detail)
}

/** The same before anything is stored for it. @throws Problem FIELD_IN_MANIFEST, KubeError */
export const refuseManifestedApp = async (deps: AppNeeds, row: MirrorRow<AppView>): Promise<void> => {
  await editSpec<AppSpec>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }, (_spec, object) => {
    refuseManifested(object, RELEASE_FIELDS)
    return null
  })
}
