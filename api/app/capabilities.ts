/**
 * GET /api/apps/publishing-capabilities: what there is to be used, so that no client has to infer it
 * (rules/app.md#capabilities).
 */
import { QUEUE_MAX } from '../../crds/app/lifecycle/transitions.ts'
import { ACCESSES } from '../../crds/app/schema.ts'
import type { TargetHost } from '../../crds/app/world.ts'
import { named } from '../../crds/kernel/named.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { list, object, text, textOrNull, whole } from '../openapi/schemas.ts'
import type { Writing } from '../wiring/deps.ts'
import { APPS_MAX } from './create.ts'
import { hostsFor } from './hosts.ts'
import { UPLOAD_MAX_BYTES } from './upload.ts'

const yes = (description: string) => ({ type: 'boolean', description })

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
    routing: list('Kinds of routes.', text('managed.')),
    domain_config: yes('Whether own domains can be configured.'),
    publication_policy: yes('Whether access changes go by plan and apply.'),
    access_links: yes('Whether private apps can be opened by links.'),
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

const handle = async (deps: Writing, request: ApiRequest): Promise<Answer> => {
  const hosts = await hostsFor(deps, request.caller.account)
  const reason = reasonAgainst(request, hosts)
  return {
    status: 200,
    body: {
      deploy: { enabled: reason === null, reason },
      hosts: hosts.map(viewHost),
      access: [...ACCESSES],
      routing: ['managed'],
      domain_config: false,
      publication_policy: false,
      access_links: false,
      limits: { apps: APPS_MAX, upload_bytes: UPLOAD_MAX_BYTES, queued_operations: QUEUE_MAX },
    },
  }
}

export const getCapabilities = { schema, handle }
