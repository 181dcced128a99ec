/** What the built-in roles of Kubernetes are added, and what all rules share. */
import { KINDS } from '../../kinds.ts'
import type { Kind } from '../kind.ts'
import type { Manifest } from '../manifest.ts'
import { GROUP } from '../object.ts'

export type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }

export const READ = ['get', 'list', 'watch']
/** What `kubectl scale` does, and an autoscaler. */
const SCALE = ['update', 'patch']
const WRITE = ['create', 'update', 'patch', 'delete']

export const LABELS = { 'app.kubernetes.io/part-of': 'bottega' }
export const RBAC = 'rbac.authorization.k8s.io'

export const pluralOf = (subresource = '', kinds: readonly Kind[] = KINDS): string[] =>
  kinds.map((kind) => `${kind.plural}${subresource}`)

/**
 * What holders of the built-in roles may do. A status is nobody's to write. Invoices hold names and addresses of clients:
 * whoever may view them sees those.
 */
export const aggregated = (): Manifest[] => [
  clusterRole('view', [{ apiGroups: [GROUP], resources: pluralOf(), verbs: READ }]),
  clusterRole('edit', writtenBy('edit')),
  clusterRole('admin', writtenBy('admin')),
]

/** One rule per kind that the role writes. A guarded verb is the administrators', whoever writes the rest. */
const writtenBy = (role: 'edit' | 'admin'): Rule[] =>
  KINDS.flatMap(({ plural, writers, guardedVerbs = [], scale }) => {
    const verbs = [...(writers === role ? WRITE : []), ...(role === 'admin' ? guardedVerbs : [])]
    const rules = verbs.length === 0 ? [] : [{ apiGroups: [GROUP], resources: [plural], verbs }]
    if (scale === undefined || writers !== role) return rules
    return [...rules, { apiGroups: [GROUP], resources: [`${plural}/scale`], verbs: ['get', ...SCALE] }]
  })

const clusterRole = (role: 'view' | 'edit' | 'admin', rules: Rule[]): Manifest => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name: `bottega-${role}`, labels: { ...LABELS, [`${RBAC}/aggregate-to-${role}`]: 'true' } },
  rules,
})
