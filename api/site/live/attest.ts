/**
 * What visitors get of a live site now, held against what was approved, file by file; and the keys by which anybody does the same
 * without asking us. The site is asked for as any address that a user chose (hack/decisions/026, 061).
 */

import { sha256Of } from '../../../controllers/store/blobs.ts'
import { named } from '../../../crds/kernel/named.ts'
import {
  CERTIFICATE_STATES,
  certificateState,
  FILE_STATES,
  type FileAnswer,
  fileState,
  jwsIn,
  overallState,
  STATEMENT_STATES,
  type StatementState,
  statementIn,
} from '../../../crds/site/publishing/attestation.ts'
import { wantedOf } from '../../../crds/site/publishing/look.ts'
import type { SiteManifest } from '../../../crds/site/publishing/manifest.ts'
import { STATEMENT_SEEDS, statementKeys, verifyStatement } from '../../../crds/site/publishing/signature.ts'
import { STATEMENT_PATH, type Statement } from '../../../crds/site/publishing/statement.ts'
import { certificatePathOf } from '../../../crds/site/reviewing/certificate.ts'
import { policyOf } from '../../../crds/text/policy.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { list, object, oneOf, text, textOrNull, whole } from '../../openapi/schemas.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { sites } from '../read.ts'
import { certified } from '../reviewing/certificate.ts'

/** Over all files of a site. */
const LIMIT_MS = 20_000
const FILES_AT_ONCE = 6
/** Looks under way in this process: each holds a few files in memory. */
const LOOKS_AT_ONCE = 4
const STATEMENT_MAX_BYTES = 1024 * 1024
const RETRY_SECONDS = '5'

type Asked = Pick<SiteNeeds, 'egress'> & { url: string; signal: AbortSignal }
type Fetched = { status: number; body: Buffer } | null

/** @returns null when nothing whole came within the time */
const fetched = async ({ egress, url, signal }: Asked, path: string, bytesMax: number): Promise<Fetched> => {
  if (signal.aborted) return null
  const headers = { 'accept-encoding': 'identity', 'cache-control': 'no-cache' }
  const request = { method: 'GET' as const, url: new URL(path, url).href, headers, limitMs: LIMIT_MS, bytesMax, signal }
  const answer = await egress.exchange(request)
  if (answer.ok) return { status: answer.status, body: answer.body }
  // more than there should be is other bytes, whatever comes after
  return answer.fault === 'ANSWER_TOO_LARGE' && answer.status !== null
    ? { status: answer.status, body: answer.body }
    : null
}

const lookAtFile = async (asked: Asked, { path, sha256, bytes }: SiteManifest['files'][number]) => {
  const wanted = wantedOf({ path, sha256 })
  const answer = await fetched(asked, wanted.path, bytes + 1)
  const seen: FileAnswer = answer && { status: answer.status, sha256: sha256Of(answer.body) }
  const state = fileState(wanted, seen)
  return { path, sha256, state, status: seen?.status ?? null, seen_sha256: seen?.sha256 ?? null }
}

type StatementFound = { state: StatementState; statement: Statement | null }

const lookAtStatement = async (
  { keys }: Pick<SiteNeeds, 'keys'>,
  asked: Asked,
  of: Parameters<typeof statementIn>[1],
): Promise<StatementFound> => {
  const answer = await fetched(asked, `/${STATEMENT_PATH}`, STATEMENT_MAX_BYTES)
  if (answer === null) return { state: 'unknown', statement: null }
  if (answer.status !== 200) return { state: 'missing', statement: null }
  const jws = jwsIn(answer.body.toString('utf8'))
  const payload = jws === null ? null : verifyStatement(keys.signingSeeds(STATEMENT_SEEDS), jws)
  if (payload === null) return { state: 'unsigned', statement: null }
  const statement = statementIn(payload, of)
  return { state: statement ? 'valid' : 'other', statement }
}

const inLanes = async <T, R>(items: readonly T[], lanes: number, work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  let next = 0
  const lane = async () => {
    for (let place = next++; place < items.length; place = next++) results[place] = await work(items[place] as T)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return results
}

type Found = Awaited<ReturnType<typeof sites.find>>

const attest = async (deps: SiteNeeds, row: Found): Promise<Answer> => {
  const { name, view } = row
  const { live_digest: digest, url } = view
  const rendering = digest === null ? null : await deps.sites.rendering(name, digest)
  const stored = rendering && (await deps.blobs.get(rendering.manifest))
  if (digest === null || url === null || !rendering || !stored) throw new Problem('NOT_LIVE', `${name} is not live.`)
  const { files } = JSON.parse(stored.toString('utf8')) as SiteManifest
  const { hostname } = new URL(url)
  const asked: Asked = { egress: deps.egress, url, signal: AbortSignal.timeout(LIMIT_MS) }
  const [{ state, statement }, looks, approval] = await Promise.all([
    lookAtStatement(deps, asked, { site: name, hostname, digest, files }),
    inLanes(files, FILES_AT_ONCE, (file) => lookAtFile(asked, file)),
    certified(deps, row, digest),
  ])
  const states = looks.map((look) => look.state)
  const counted = FILE_STATES.map((one) => [one, looks.filter((look) => look.state === one).length])
  const attestation = {
    state: overallState(states, state),
    url,
    release: view.release,
    digest,
    looked_at: deps.now().toISOString(),
    statement: {
      state,
      url: new URL(`/${STATEMENT_PATH}`, url).href,
      keys_url: `${deps.publicUrl}/.well-known/bottega-keys.json`,
      approved: statement?.approved ?? null,
    },
    certificate: {
      state: certificateState(approval !== null, states),
      url: approval && `${deps.publicUrl}${certificatePathOf(name, digest)}`,
    },
    counts: Object.fromEntries(counted),
    files: looks,
  }
  return { status: 200, body: { attestation } }
}

/** One look of an account at a time, and a few of all. */
const makeAttest = () => {
  const underWay = new Set<string>()
  return async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
    const { account } = request.caller
    // Whose it is comes first: nobody learns from a full house that it is there.
    const found = await sites.find(deps, request)
    if (underWay.has(account) || underWay.size >= LOOKS_AT_ONCE) {
      const detail = 'Sites are being looked at already; ask again when that has ended.'
      throw new Problem('TOO_MANY_REQUESTS', detail, { headers: { 'retry-after': RETRY_SECONDS } })
    }
    underWay.add(account)
    return attest(deps, found).finally(() => underWay.delete(account))
  }
}

const attestationAnswer = named(
  'SiteAttestation',
  object('What visitors get now, held against what was approved.', {
    state: oneOf(
      'same; differs, when anything is altered or missing; unknown, when something could not be looked at.',
      ['same', 'differs', 'unknown'],
    ),
    url: text('Where it was looked at.'),
    release: whole('The release that is live by the record.'),
    digest: text('Names the bytes that were approved.'),
    looked_at: text('When.'),
    statement: object('What the site says of itself, signed.', {
      state: oneOf('valid; other: signed, but of another release; unsigned: not by our keys.', STATEMENT_STATES),
      url: text('Where it is served.'),
      keys_url: text('The public keys, as a JWK set.'),
      approved: {
        type: ['object', 'null'],
        description: 'By whom, without a name, and when; as signed.',
        properties: { role: text('reviewer.'), by: text('One reviewer, always the same.'), at: text('When.') },
      },
    }),
    certificate: object('Of the approval.', {
      state: oneOf(
        'matches, when every file is what it certifies; missing, when no approval is on record.',
        CERTIFICATE_STATES,
      ),
      url: textOrNull('Where anybody reads it.'),
    }),
    counts: object(
      'How many files are in which state.',
      Object.fromEntries(FILE_STATES.map((one) => [one, whole(one)])),
    ),
    files: list(
      'Each file of the release.',
      object('One file.', {
        path: text('From the root of the site.'),
        state: oneOf('What was found.', FILE_STATES),
        sha256: text('As it was approved.'),
        seen_sha256: textOrNull('As it was served; null where nothing came.'),
        status: { type: ['integer', 'null'], description: 'How it was answered.' },
      }),
    ),
  }),
)

export const attestRoutes: Route<SiteNeeds>[] = [
  {
    method: 'GET',
    path: '/api/website/:id/attestation',
    summary: 'Compare a live site with what was approved',
    description:
      'Asks for every file as a visitor does, within 20 seconds, one look of an account at a time. The site says the same of itself, signed, at /.well-known/bottega-site.json.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:read' },
    answers: { 200: { description: 'What was found.', schema: object('It.', { attestation: attestationAnswer }) } },
    codes: ['NOT_FOUND', 'NOT_LIVE', 'TOO_MANY_REQUESTS'],
    handle: makeAttest(),
  },
]

/** Not described with the routes of accounts: whoever checks a site has none. */
export const statementKeyRoutes: Route<Pick<Deps, 'keys'>>[] = [
  {
    hidden: true,
    method: 'GET',
    path: '/.well-known/bottega-keys.json',
    summary: 'Public keys of the statements of sites',
    scope: { kind: 'public', limit: 'file' },
    handle: async ({ keys }) => ({
      status: 200,
      bytes: Buffer.from(JSON.stringify({ keys: statementKeys(keys.signingSeeds(STATEMENT_SEEDS)) }), 'utf8'),
      headers: {
        'content-type': 'application/jwk-set+json',
        'cache-control': 'public, max-age=60',
        'access-control-allow-origin': '*',
        'content-security-policy': policyOf({}),
      },
    }),
  },
]
