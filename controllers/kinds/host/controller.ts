/** The Host's hands: it is looked at, its proxy is put back, and it is mirrored. What to do is decided in crds/host/plan.ts. */
import { guardOf } from '../../../crds/host/isolation.ts'
import { HOST } from '../../../crds/host/kind.ts'
import { type HostFacts, type HostResource, type HostStep, type HostWorld, planHost } from '../../../crds/host/plan.ts'
import { viewHost } from '../../../crds/host/view.ts'
import { PLATFORM } from '../../../crds/kernel/fields.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import type { Metrics, NameCertificate } from '../../ops/metrics.ts'
import type { Controller } from '../../runtime/contract.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import { type Mirror, rowOf } from '../../store/mirror.ts'
import type { Context } from '../context.ts'
import { controlOf } from '../kind-controller.ts'
import { hostGauges } from './gauges.ts'
import { GUARD_DIGEST, putGuard } from './guard.ts'

export type HostDeps = {
  hosts: Hosts
  ledger: Pick<Ledger, 'observe'>
  mirror: Mirror
  metrics?: Pick<Metrics, 'certificates' | 'gauge' | 'drifted'>
  events?: Context['events']
  now: () => Date
}

const NO_GUARD = { state: 'missing' } as const

const observe = async (deps: HostDeps, { metadata, spec }: HostResource, signal: AbortSignal): Promise<HostWorld> => {
  const { hosts, ledger } = deps
  const { name } = metadata
  const [hasCredential, { factSeq }] = await Promise.all([hosts.hasCredential(name), ledger.observe(name)])
  const known = { hasCredential, addressRule: hosts.addressRule(name), factSeq }
  const inspection = hasCredential ? await hosts.inspect(name, signal) : null
  const guard = inspection?.reach === 'ok' ? guardOf(inspection.findings.guard, GUARD_DIGEST) : NO_GUARD
  const isServing = spec.approved && inspection?.reach === 'ok' && inspection.findings.proxyFault === ''
  if (!isServing) return { ...known, inspection, guard, drift: 'none', certificates: [] }
  const drift = await hosts.routes(name).drift()
  return { ...known, inspection, guard, drift, certificates: await hosts.certificates(name) }
}

const isBelow = (hostname: string, base: string | undefined): boolean =>
  base !== undefined && hostname.endsWith(`.${base}`)

export const hostController = (deps: HostDeps): Controller<HostResource, HostFacts, HostWorld, HostStep> => {
  const gauges = deps.metrics && hostGauges(deps.metrics)
  return {
    kind: HOST,
    observe: (object, signal) => observe(deps, object, signal),
    plan: planHost,
    act: {
      restoreProxy: async ({ told }, object) => {
        const { name } = object.metadata
        const drift = await deps.hosts.routes(name).reconcile()
        if (!told || drift === 'none') return undefined
        deps.metrics?.drifted(HOST.kind, name)
        const message = `put back what was changed in its proxy: ${drift === 'routes' ? 'its routes' : 'its settings'}`
        deps.events?.emit({ object, kind: HOST, type: 'Warning', reason: 'Drift', action: 'Restore', message })
        return undefined
      },
      restoreGuard: async (_step, { metadata }) => {
        await putGuard(deps.hosts.link(metadata.name))
        return undefined
      },
    },
    report: async (object, world, plan) => {
      const { metadata, spec } = object
      const named = world.certificates.map((one): NameCertificate => {
        return { ...one, names: isBelow(one.hostname, spec.baseDomain) ? 'platform' : 'own' }
      })
      deps.metrics?.certificates(metadata.name, named, deps.now())
      gauges?.seen(metadata.name, { approved: spec.approved, world, plan, now: deps.now() })
      await deps.mirror.put(
        rowOf(object, { kind: HOST, account: spec.account ?? PLATFORM, view: viewHost(object, world, plan) }),
      )
    },
    forget: async (key, how) => {
      const name = key.slice(key.indexOf('/') + 1)
      // A key cannot be made again: it goes when a deletion was seen, and not before.
      if (how === 'deleted') await deps.hosts.forget(name)
      deps.metrics?.certificates(name, [], deps.now())
      gauges?.forget(name)
      await deps.mirror.remove('Host', name)
    },
  }
}

export const hostControl = controlOf({
  kind: HOST,
  concurrency: 8,
  // hosts of its own may be slow to answer
  accountMost: 6,
  // A login, an inspection and some handshakes on a machine that may be busy.
  observeLimitMs: 30_000,
  // A slow look at a host that is well is no news.
  quietMs: 35_000,
  make: (context) => hostController(context),
})
