/** The file by which a live site says what it is: the same bytes for the same release, so that it is looked at like any other. */
import type { ManifestEntry } from '../../../crds/site/publishing/manifest.ts'
import { STATEMENT_SEEDS, signStatement } from '../../../crds/site/publishing/signature.ts'
import {
  type Attested,
  REVIEWER_KEY,
  reviewerName,
  STATEMENT_PATH,
  statementOf,
  statementText,
} from '../../../crds/site/publishing/statement.ts'
import { canonical } from '../../../crds/values/canonical.ts'
import { sha256Of } from '../../store/blobs.ts'
import type { SiteDeps } from './deps.ts'

export type SentStatement = ManifestEntry & { content: Buffer }

export const statementFile = (
  deps: Pick<SiteDeps, 'keys' | 'publicUrl'>,
  { site, digest, files }: { site: string; digest: string; files: readonly ManifestEntry[] },
  attested: Attested,
): SentStatement => {
  const reviewer = attested.by === null ? null : reviewerName(deps.keys.lastingKey(REVIEWER_KEY), attested.by)
  const statement = statementOf({ issuer: deps.publicUrl, site, digest, reviewer }, attested, files)
  const content = Buffer.from(
    statementText(statement, signStatement(deps.keys.signingSeeds(STATEMENT_SEEDS), canonical(statement))),
  )
  const contentType = 'application/json'
  return { path: STATEMENT_PATH, sha256: sha256Of(content), bytes: content.length, contentType, content }
}
