/**
 * GET /api/apps/publishing-capabilities: what there is to be used, so that no client has to infer it
 * (rules/app.md#capabilities).
 */
import { APP } from '../../crds/app/kind.ts'
import { QUEUE_MAX } from '../../crds/app/lifecycle/transitions.ts'
import { ACCESSES, ROUTINGS } from '../../crds/app/schema.ts'
import type { TargetHost } from '../../crds/app/world.ts'
import { named } from '../../crds/kernel/named.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { list, object, text, textOrNull, whole } from '../openapi/schemas.ts'
import type { Deps, Writing } from '../wiring/deps.ts'
import { APPS_MAX } from './create.ts'
import { hostsFor } from './hosts.ts'
import { certificatesOf, evidenceOf } from './publishing/evidence.ts'
import { UPLOAD_MAX_BYTES } from './sources/upload.ts'

const yes = (description: string) => ({ type: 'boolean', description })

const finding = named(
  'PublishingEvidence',
  object('One thing.', { name: text('What.'), detail: text('How it was seen, or what is to be done.') }),
)

const schema = named(
  'PublishingCapabilities',
  object('What this account may do, and where.', {
    deploy: object('Whether a deploy would be taken now.', {
      enabled: yes('Whether it would.'),
      reason: textOrNull('Why not.'),
    }),
    hosts: list(
      'Hosts that this account may put apps on.',
      object('A host.', {
        id: text('Names the host.'),
        class: text('shared, isolated, owned or platform.'),
        approved: yes('Live changes run on it.'),
        ready: yes('It was reached at the last look.'),
        cordoned: yes('It takes no new apps.'),
        arch: textOrNull('The architecture that images must be for.'),
        base_domain: textOrNull('Apps get names under it.'),
        policy: text('enforced or warned: what becomes of what the compose policy finds.'),
        budget: object('What one app may use.', {
          cpu_millis: whole('Thousandths of a processor.'),
          memory_mib: whole('Memory in MiB.'),
          disk_gib: whole('Disk in GiB.'),
        }),
      }),
    ),
    access: list('Kinds of access.', text('public or private.')),
    routing: list(
      'Kinds of routes; original is of apps of before, until their domains or access change.',
      text('managed or original.'),
    ),
    domain_config: yes('Whether own domains can be configured.'),
    publication_policy: yes('Whether access changes go by plan and apply.'),
    access_links: yes('Whether private apps can be opened by links.'),
    evidence: object('What was seen to work here, and what is still to be seen.', {
      proven: list('Was seen.', finding),
      pending: list('Is still to be seen.', finding),
    }),
    certificates: object('Certificates of the hostnames of this account.', {
      served: whole('Hostnames with a good one.'),
      lacking: list('Hostnames without one, or with one that runs out.', text('A hostname.')),
      first_ends_at: textOrNull('When the first of them runs out.'),
    }),
    limits: object('How much.', {
      apps: whole('Apps of an account.'),
      upload_bytes: whole('One upload.'),
      queued_operations: whole('Operations of an app that wait or run.'),
    }),
  }),
)

const viewHost = (host: TargetHost) => ({
  id: host.name,
  class: host.class,
  approved: host.approved,
  ready: host.ready,
  cordoned: host.isCordoned,
  arch: host.arch,
  base_domain: host.baseDomain,
  policy: host.class === 'platform' ? 'warned' : 'enforced',
  budget: { cpu_millis: host.budget.cpuMillis, memory_mib: host.budget.memoryMib, disk_gib: host.budget.diskGib },
})

const reasonAgainst = ({ caller }: ApiRequest, hosts: readonly TargetHost[]): string | null => {
  if (!caller.profile.capabilities.includes('app.deploy')) return 'The account lacks the capability app.deploy.'
  if (!hosts.some(({ approved }) => approved)) return 'No host of this account is approved.'
  return hosts.some(({ ready }) => ready) ? null : 'No approved host can be reached now.'
}

const handle = async (deps: Writing & Pick<Deps, 'mirror'>, request: ApiRequest): Promise<Answer> => {
  const hosts = await hostsFor(deps, request.caller.account)
  const reason = reasonAgainst(request, hosts)
  const { account } = request.caller
  const { rows } = await deps.mirror.list({ kind: APP, account }, {}, { limit: APPS_MAX, offset: 0 })
  const views = rows.map(({ view }) => view)
  return {
    status: 200,
    body: {
      deploy: { enabled: reason === null, reason },
      hosts: hosts.map(viewHost),
      access: [...ACCESSES],
      routing: [...ROUTINGS],
      domain_config: true,
      publication_policy: true,
      access_links: true,
      evidence: evidenceOf(views),
      certificates: certificatesOf(views),
      limits: { apps: APPS_MAX, upload_bytes: UPLOAD_MAX_BYTES, queued_operations: QUEUE_MAX },
    },
  }
}

export const getCapabilities = { schema, handle }
