/** The door to the namespaces of tenants, as a process opens it (hack/decisions/057). */
import { namespacesOf, type Tenants, type Unserved } from '../../crds/account/tenants.ts'
import { EnvError } from '../base/env.ts'
import type { Kube } from '../kube/kube.ts'
import { makeTenantDoor, type TenantDoor } from '../kube/tenants/door.ts'
import { makePlaces, type PlaceStore } from '../store/installation/places.ts'
import type { Pg } from '../store/pg/pg.ts'
import type { Metrics } from './metrics.ts'

export type OpenTenants = Pick<TenantDoor, 'kube' | 'livesIn'> & {
  strays: TenantDoor['strays'] | undefined
  /** What stands in namespaces that are not served just now. */
  unserved(): Promise<Unserved[]>
}

type Opening = {
  pg: Pg
  kube: Kube
  tenants: Tenants
  /** Who decides which namespaces are served; the api takes it as it is. */
  serves: boolean
}

/** So long an answer is good for all who ask. */
const KEPT_MS = 1_000

const kept = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let last: { at: number; answer: Promise<T> } | undefined
  return () => {
    if (last === undefined || performance.now() - last.at > KEPT_MS) last = { at: performance.now(), answer: ask() }
    return last.answer
  }
}

const AT_HOME = {
  name: 'BOTTEGA_TENANTS',
  expected: 'names the namespace of the other resources (BOTTEGA_NAMESPACE): leave it out',
}

const closed = (kube: Kube, { home }: Tenants): OpenTenants => ({
  kube,
  livesIn: () => home,
  strays: undefined,
  unserved: async () => [],
})

/**
 * The client as it is where there is one namespace, and never was another.
 * @throws DatabaseUnavailable, EnvError
 */
export const openTenants = async ({ pg, kube, tenants, serves }: Opening): Promise<OpenTenants> => {
  const places: PlaceStore = makePlaces({ pg })
  if (tenants.bound.some(({ namespace }) => namespace === tenants.home)) throw new EnvError([AT_HOME])
  if (tenants.bound.length === 0 && !(await places.isUsed())) return closed(kube, tenants)
  if (serves) await places.serve(namespacesOf(tenants))
  const door = makeTenantDoor({ kube, tenants, places })
  return { ...door, unserved: kept(places.unserved) }
}

export const makeTenantMetrics = (metrics: Metrics, { strays, unserved }: OpenTenants): void => {
  metrics.gauge({
    name: 'bottega_resources_stray',
    help: 'Resources that stand where nobody works on them: their account is bound to another namespace, or their name is in use in one.',
    labelNames: ['code'],
    collect() {
      this.reset()
      for (const code of ['ACCOUNT_ELSEWHERE', 'NAME_TAKEN'])
        this.set({ code }, strays?.list().filter((one) => one.code === code).length ?? 0)
    },
  })
  metrics.gauge({
    name: 'bottega_resources_unserved',
    help: 'Resources in a namespace that is not served, by namespace; nothing of them was deleted.',
    labelNames: ['namespace'],
    async collect() {
      this.reset()
      for (const { namespace, count } of await unserved().catch(() => [])) this.inc({ namespace }, count)
    },
  })
}
