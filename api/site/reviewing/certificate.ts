/** Certificates of approvals: for the owner and for reviewers over REST, and of what is or was live for anybody. */
import { named } from '../../../crds/kernel/named.ts'
import { SITE } from '../../../crds/site/kind.ts'
import type { SiteManifest } from '../../../crds/site/publishing/manifest.ts'
import { STATEMENT_SEEDS, signStatement } from '../../../crds/site/publishing/signature.ts'
import { REVIEWER_KEY, reviewerName } from '../../../crds/site/publishing/statement.ts'
import {
  type ApprovalCertificate,
  approvalFor,
  certificateOf,
  certificatePathOf,
} from '../../../crds/site/reviewing/certificate.ts'
import type { Bytes } from '../../../crds/site/world.ts'
import { canonical } from '../../../crds/values/canonical.ts'
import { decidesOnSites } from '../../http/caller.ts'
import { pageAnswer } from '../../http/pages.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { list, object, text, textOrNull, whole } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { factsOf, type ShownSiteRow, siteRow, sites } from '../read.ts'
import { certificatePage } from './certificate-view.ts'
import { manifestOf } from './compare.ts'

const DIGEST = '^[0-9a-f]{64}$'

export type Certified = { certificate: ApprovalCertificate; jws: string; manifest: SiteManifest; wasLive: boolean }

/** Facts with what each submission would be without a hostname: an approval holds for that. */
const approvalsOf = async (deps: SiteNeeds, row: ShownSiteRow) => {
  const facts = await factsOf(deps, row)
  const digests = [...new Set(facts.submissions.map(({ digest }) => digest))]
  const found = await Promise.all(digests.map((digest) => deps.sites.rendering(row.name, digest)))
  const neutral = new Map(found.flatMap((one) => (one ? [[one.digest, one.neutral]] : [])))
  const bytesOf = (digest: string): Bytes => ({ digest, neutral: neutral.get(digest) ?? digest })
  return { ...facts, submissions: facts.submissions.map((one) => ({ ...one, ...bytesOf(one.digest) })) }
}

/** @returns null where these bytes are not known, or were not approved */
export const certified = async (deps: SiteNeeds, row: ShownSiteRow, digest: string): Promise<Certified | null> => {
  const found = await manifestOf(deps, row.name, digest)
  if (!found) return null
  const facts = await approvalsOf(deps, row)
  const { rendering, manifest } = found
  const approval = approvalFor(facts, { digest, neutral: rendering.neutral })
  if (!approval) return null
  const reviewer = reviewerName(deps.keys.lastingKey(REVIEWER_KEY), approval.decision.by)
  const of = { issuer: deps.publicUrl, site: row.name, digest, reviewer }
  const certificate = certificateOf(of, approval, manifest.files)
  const jws = signStatement(deps.keys.signingSeeds(STATEMENT_SEEDS), canonical(certificate))
  return { certificate, jws, manifest, wasLive: facts.switches.some(({ to }) => to?.digest === digest) }
}

/** What is live, else what was approved last. */
const digestOf = async (deps: SiteNeeds, row: ShownSiteRow): Promise<string | null> => {
  if (row.view.live_digest !== null) return row.view.live_digest
  const { submissions, decisions } = await factsOf(deps, row)
  const last = decisions.findLast(({ decision }) => decision === 'approve')
  return submissions.find(({ seq }) => seq === last?.submission)?.digest ?? null
}

const keysUrl = ({ publicUrl }: SiteNeeds): string => `${publicUrl}/.well-known/bottega-keys.json`

const showCertificate = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = decidesOnSites(request.caller)
    ? await siteRow(deps, request.params.id ?? '', { because: 'role' })
    : await sites.find(deps, request)
  const digest = request.query.digest ?? (await digestOf(deps, row))
  const found = digest === null ? null : await certified(deps, row, digest)
  if (digest === null || !found) {
    throw new Problem(
      'NOT_APPROVED',
      digest === null ? `Nothing of ${row.name} was approved.` : `${digest} was not approved.`,
    )
  }
  const { certificate, jws, wasLive } = found
  const url = wasLive ? `${deps.publicUrl}${certificatePathOf(row.name, digest)}` : null
  return { status: 200, body: { certificate, jws, url, keys_url: keysUrl(deps) } }
}

/** Of what is or was live alone: of the rest nobody is told that it is there. @throws Problem NOT_FOUND */
const publicOne = async (deps: SiteNeeds, { params }: ApiRequest): Promise<Certified> => {
  const { site = '', digest = '' } = params
  const row = new RegExp(DIGEST).test(digest) ? await deps.mirror.get(SITE, site, { because: 'link' }) : undefined
  const found = row && (await certified(deps, row, digest))
  if (!found?.wasLive) throw new Problem('NOT_FOUND', 'There is no certificate of such bytes.')
  return found
}

const showPublic = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await publicOne(deps, request)
  return pageAnswer(
    200,
    certificatePage({
      ...found,
      keysUrl: keysUrl(deps),
      jsonPath: `${certificatePathOf(found.certificate.site, found.certificate.digest)}/certificate.json`,
    }),
  )
}

const showJson = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { certificate, jws } = await publicOne(deps, request)
  return {
    status: 200,
    headers: { 'access-control-allow-origin': '*' },
    body: { certificate, jws, keys_url: keysUrl(deps) },
  }
}

const certificateAnswer = named(
  'ApprovalCertificate',
  object('Which bytes were approved; only what is signed counts.', {
    form: text('Of the certificate.'),
    issuer: text('Whose keys sign it.'),
    site: text('The site.'),
    digest: text('Names the bytes.'),
    submitted: object('What the reviewer saw: the same, or the same under another hostname alone.', {
      digest: text('Names those bytes.'),
      at: text('When.'),
    }),
    approved: object('By whom, without a name, and when.', {
      role: text('reviewer.'),
      by: text('One reviewer, always the same.'),
      at: text('When.'),
    }),
    files: list(
      'Every file.',
      object('One.', {
        path: text('From the root of the site.'),
        sha256: text('Of its bytes.'),
        bytes: whole('How many.'),
      }),
    ),
  }),
)

export const certificateRoutes: Route<SiteNeeds>[] = [
  {
    method: 'GET',
    path: '/api/website/:id/certificate',
    summary: 'Get the certificate of an approval',
    description:
      'Signed by the keys of /.well-known/bottega-keys.json: of what is live, else of what was approved last. For the owner and for reviewers; of what is or was live anybody reads it at its url. The note is not in it.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:read' },
    query: { digest: { ...text('Of other bytes that were approved.'), pattern: DIGEST } },
    answers: {
      200: {
        description: 'The certificate.',
        schema: object('It.', {
          certificate: certificateAnswer,
          jws: text('The same, signed: RFC 7515, compact, Ed25519.'),
          url: textOrNull('Where anybody reads it; null while these bytes were never live.'),
          keys_url: text('The public keys, as a JWK set.'),
        }),
      },
    },
    codes: ['NOT_FOUND', 'NOT_APPROVED', 'INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: showCertificate,
  },
]

const open = { hidden: true, method: 'GET', scope: { kind: 'public' } } as const

export const certificatePageRoutes: Route<SiteNeeds>[] = [
  { ...open, path: '/certificates/:site/:digest', summary: 'Certificate of an approval', handle: showPublic },
  { ...open, path: '/certificates/:site/:digest/certificate.json', summary: 'The same, signed', handle: showJson },
]
