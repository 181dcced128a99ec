/** What the mirror of a database holds, for tests that look past the process that wrote it. */
import type { KindOf } from '../../../crds/kernel/kind.ts'
import { query } from '../../../hack/platform/postgres.ts'

/** The view of a resource, or of the only one of its kind; undefined while there is none. */
export const viewIn = async <View>(url: string, kind: KindOf<View>, name?: string): Promise<View | undefined> => {
  const text = 'select view from mirror where kind = $1 and ($2::text is null or name = $2)'
  const [row] = (await query(url, text, [kind.kind, name ?? null])) as { view: View }[]
  return row?.view
}
