/** Who writes a field of a spec, as the API server keeps it (decision `hack/decisions/073`). */

/** What our own processes call themselves. */
const PLATFORM = 'bottega-'

type ManagedField = { manager?: string; subresource?: string; fieldsV1?: { 'f:spec'?: Record<string, unknown> } }

/**
 * The manager of the first of these fields that somebody else than the platform writes: a manifest, or kubectl.
 * @param managedFields as in metadata
 */
export const manifestOwner = (
  managedFields: unknown,
  fields: readonly string[],
): { field: string; manager: string } | null => {
  const entries = Array.isArray(managedFields) ? (managedFields as ManagedField[]) : []
  for (const field of fields) {
    const owner = entries.find(
      ({ manager = '', subresource, fieldsV1 }) =>
        !subresource && !manager.startsWith(PLATFORM) && Object.hasOwn(fieldsV1?.['f:spec'] ?? {}, `f:${field}`),
    )
    if (owner) return { field, manager: owner.manager ?? '' }
  }
  return null
}
