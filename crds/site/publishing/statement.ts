/**
 * What a live site says of itself at `/.well-known/bottega-site.json`: which release it is, every file of it by its sha256, and by
 * whom and when these bytes were approved; signed, so that anybody can hold it against what is served (hack/decisions/061). It lies
 * in the folder of the release and is none of its files: what is approved does not change by it.
 */
import { createHmac } from 'node:crypto'
import { canonical } from '../../values/canonical.ts'
import { approvalOf } from '../reviewing/review.ts'
import type { Rendering, ReviewDecision, SiteWorld } from '../world.ts'
import type { ManifestEntry } from './manifest.ts'

export const STATEMENT_PATH = '.well-known/bottega-site.json'
export const STATEMENT_FORM = 'bottega.dev/site-statement/v1'

/** What the key of `reviewerName` is for (controllers/base/keys.ts). */
export const REVIEWER_KEY = 'site-reviewer'
const REVIEWER_LENGTH = 16

/** One reviewer of this installation, told by no name: whoever has no key cannot try accounts. */
export const reviewerName = (key: Buffer, account: string): string =>
  `reviewer-${createHmac('sha256', key).update(account).digest('hex').slice(0, REVIEWER_LENGTH)}`

/** What is said beside the files. `by` is an account, which is never told by its name. */
export type Attested = { release: number; hostname: string; by: string | null; at: string | null }

/** As it is signed. Instants are ISO. */
export type Statement = {
  form: typeof STATEMENT_FORM
  /** Whose keys sign it: `<issuer>/.well-known/bottega-keys.json`. */
  issuer: string
  site: string
  hostname: string
  release: number
  digest: string
  /** `by` names a reviewer, the same for all that this one approved here, and tells nobody who that is. Null where it is not on record. */
  approved: { role: 'reviewer'; by: string; at: string } | null
  files: { path: string; sha256: string; bytes: number }[]
}

export const attestedOf = (
  world: Pick<SiteWorld, 'submissions' | 'decisions'>,
  rendering: Pick<Rendering, 'digest' | 'neutral'>,
  of: Pick<Attested, 'release' | 'hostname'>,
): Attested => {
  const approval: ReviewDecision | null = approvalOf(world, rendering)
  return { ...of, by: approval?.by ?? null, at: approval?.at ?? null }
}

/** @param of.reviewer who approved, as the public may know it */
export const statementOf = (
  of: { issuer: string; site: string; digest: string; reviewer: string | null },
  { release, hostname, at }: Attested,
  files: readonly ManifestEntry[],
): Statement => ({
  form: STATEMENT_FORM,
  issuer: of.issuer,
  site: of.site,
  hostname,
  release,
  digest: of.digest,
  approved: of.reviewer === null || at === null ? null : { role: 'reviewer', by: of.reviewer, at },
  files: files.map(({ path, sha256, bytes }) => ({ path, sha256, bytes })),
})

/** The file: the statement to be read, and the same signed (RFC 7515, compact). Only what is signed counts. */
export const statementText = (statement: Statement, jws: string): string =>
  `${JSON.stringify({ statement: JSON.parse(canonical(statement)), jws }, null, 1)}\n`
