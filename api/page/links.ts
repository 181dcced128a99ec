/**
 * Ending links that were given away: what a request for it says, in the words of `spec.linkVersions`, and what is known of it beside
 * the database where that may be an older copy (rules/platform.md#links).
 */
import { isNotFound } from '../../controllers/base/errors.ts'
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { NewFact } from '../../controllers/store/ledger/facts.ts'
import { named } from '../../crds/kernel/named.ts'
import type { Resource } from '../../crds/kernel/object.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { textPattern } from '../../crds/kernel/schema.ts'
import { FIRST_LINK, LINK_FACT, LINK_VERSION_MAX, type LinkBody, linkKey } from '../../crds/values/links.ts'
import { Problem } from '../http/problem.ts'
import type { ApiRequest } from '../http/route.ts'
import { closed, object, text, whole, withExamples } from '../openapi/schemas.ts'
import type { Deps } from '../wiring/deps.ts'

/** Says nothing of whether it ever led somewhere. */
export const DEAD_LINK = 'This link leads nowhere. Ask whoever sent it for a new one.'

const REASON_MAX = 200

export const rotateBody: JsonSchema = named(
  'RotateBody',
  withExamples(
    closed(
      object('To which version, and why.', {
        version: {
          ...whole('The version to make; what has come to it is left as it is. The next one when left out.'),
          minimum: FIRST_LINK,
          maximum: LINK_VERSION_MAX,
        },
        reason: { ...text('Kept with it, for your own records.'), maxLength: REASON_MAX, pattern: textPattern('line') },
      }),
    ),
    {},
    { version: 2, reason: 'It was posted in a forum' },
  ),
)

/**
 * The fact that ends what has come before.
 * @param now the version that is good
 * @returns null where what is asked for is so already @throws Problem INVALID_FIELD where no version is left
 */
export const rotation = (
  { body, caller }: Pick<ApiRequest, 'body' | 'caller'>,
  purpose: string,
  now: number,
): Pick<NewFact, 'key' | 'kind' | 'body'> | null => {
  const { version = now + 1, reason = null } = (body ?? {}) as { version?: number; reason?: string }
  if (version > LINK_VERSION_MAX) throw new Problem('INVALID_FIELD', `Version ${now} is the last that there is.`)
  if (version <= now) return null
  const said: LinkBody = { purpose, version, by: caller.account, reason }
  return { key: linkKey(purpose, version), kind: LINK_FACT, body: said }
}

export type LinkNeeds = Pick<Deps, 'kube' | 'namespace' | 'cluster'>

type Versions = Readonly<Partial<Record<string, number>>>
type Linked = { spec: { linkVersions?: Versions }; status?: { linkVersions?: Versions } }

/**
 * What the resource knows of versions. It is asked only while database and cluster disagree: the database may be an older copy by then,
 * to which a link that was ended is a good one. What cannot be asked then is not opened.
 */
export const versionsElsewhere = async (
  { kube, namespace, cluster }: LinkNeeds,
  kind: KindRef,
  name: string,
): Promise<(Versions | undefined)[]> => {
  if (!cluster?.disagreement()) return []
  try {
    const { spec, status } = await kube.get<Linked & Resource<unknown>>(kind, { namespace, name })
    return [spec.linkVersions, status?.linkVersions]
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}
