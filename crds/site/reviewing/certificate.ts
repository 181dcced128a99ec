/**
 * The certificate of an approval: which bytes a reviewer approved, when they were submitted and approved, and by whom under a name that
 * tells nobody who that is. The note stays between reviewer and owner. Signed as the statement of a live site is, by the same
 * keys, so that anybody can hold it against what is served (hack/decisions/061, 067).
 */
import type { ManifestEntry } from '../publishing/manifest.ts'
import type { Bytes, ReviewDecision, SiteWorld, Submission } from '../world.ts'
import { approvalOf } from './review.ts'

export const CERTIFICATE_FORM = 'bottega.dev/approval-certificate/v1'

/** As it is signed. Instants are ISO. */
export type ApprovalCertificate = {
  form: typeof CERTIFICATE_FORM
  /** Whose keys sign it: `<issuer>/.well-known/bottega-keys.json`. */
  issuer: string
  site: string
  /** Of the files that follow. */
  digest: string
  /** `digest` is what the reviewer saw: the same, or the same under another hostname and nothing else (hack/decisions/012). */
  submitted: { digest: string; at: string }
  approved: { role: 'reviewer'; by: string; at: string }
  files: { path: string; sha256: string; bytes: number }[]
}

export type Approval = { submission: Submission; decision: ReviewDecision }

/** The approval that holds for these bytes; null while there is none. */
export const approvalFor = (facts: Pick<SiteWorld, 'submissions' | 'decisions'>, bytes: Bytes): Approval | null => {
  const decision = approvalOf(facts, bytes)
  const submission = facts.submissions.find(({ seq }) => seq === decision?.submission)
  return decision && submission ? { submission, decision } : null
}

/** @param of.reviewer who approved, as the public may know it */
export const certificateOf = (
  of: { issuer: string; site: string; digest: string; reviewer: string },
  { submission, decision }: Approval,
  files: readonly ManifestEntry[],
): ApprovalCertificate => ({
  form: CERTIFICATE_FORM,
  issuer: of.issuer,
  site: of.site,
  digest: of.digest,
  submitted: { digest: submission.digest, at: submission.at },
  approved: { role: 'reviewer', by: of.reviewer, at: decision.at },
  files: files.map(({ path, sha256, bytes }) => ({ path, sha256, bytes })),
})

/** Where anybody finds the certificate of what is or was live: it follows from what the site says of itself. */
export const certificatePathOf = (site: string, digest: string): string =>
  `/certificates/${encodeURIComponent(site)}/${digest}`
