import { stringify } from 'yaml'
import { API, CONTROLLERS, developmentNames } from '../../controllers/base/env.ts'
import type { Manifest } from '../../crds/kernel/manifest.ts'
import {
  platformIn,
  platformObjects,
  type Rule,
  reconcileHomeRules,
  reconcileRules,
  reconcileTenantRules,
  setupRules,
  tenantRules,
} from '../../crds/kernel/platform.ts'
import { PUBLIC_BLOCKS } from '../../crds/values/address.ts'

/** The templates of the chart that follow from the kinds: what stands in crds/kernel/platform.ts is stated there only. */

const folder = 'charts/bottega/templates'
const header = (from: string) => `{{- /* Made by hack/generate from ${from}; edit that. */ -}}\n`

/** Path from the root → text. */
export function chartTemplates(): Map<string, string> {
  return new Map([
    [`${folder}/platform.yaml`, header('crds/kernel/platform.ts') + platformTemplate()],
    [`${folder}/_settings.tpl`, settingsTemplate()],
    [`${folder}/_rights.tpl`, rightsTemplate()],
  ])
}

const define = (name: string, text: string) => `{{- define "bottega.${name}" -}}\n${text.trimEnd()}\n{{- end -}}\n`

/** Of the Jobs, whose accounts are there while they run, and of namespaces that a value lists. */
function rightsTemplate(): string {
  const rules = (name: string, given: Rule[]) =>
    define(`rights.${name}`, stringify(given, { lineWidth: 0, aliasDuplicateObjects: false }))
  return [
    header('crds/kernel/platform.ts'),
    rules('setup-keeping', setupRules({ removes: false })),
    rules('setup-removing', setupRules({ removes: true })),
    ...(['plan', 'apply'] as const).flatMap((run) => [
      rules(`reconcile-resources-${run}`, reconcileRules({ applies: run === 'apply' })),
      rules(`reconcile-home-${run}`, reconcileHomeRules({ applies: run === 'apply' })),
      rules(`reconcile-tenant-${run}`, reconcileTenantRules({ applies: run === 'apply' })),
    ]),
    rules('tenant-controllers', tenantRules('{{ .tenant }}').controllers),
    rules('tenant-api', tenantRules('{{ .tenant }}').api),
  ].join('')
}

/** What the processes refuse by themselves, and where they connect to at a user's word. */
function settingsTemplate(): string {
  const development = [...new Set([...developmentNames(API), ...developmentNames(CONTROLLERS)])].sort()
  return [
    header('controllers/base/env.ts and crds/values/address.ts'),
    define('developmentSettings', development.join(', ')),
    define('publicBlocks', stringify(PUBLIC_BLOCKS.map((ipBlock) => ({ ipBlock })))),
  ].join('')
}

const release = '{{ .Release.Namespace }}'
// in the midst of text that is quoted in either way
const resources = '{{ include `bottega.resourceNamespace` . }}'

/**
 * Identities, rights and policies. The definitions are applied by a hook: Helm never upgrades those it installs itself; what follows
 * from the list of tenants is in tenants.yaml.
 */
function platformTemplate(): string {
  const stands = ({ kind }: Manifest) => kind !== 'CustomResourceDefinition' && kind !== 'ConfigMap'
  const plain = JSON.stringify(platformObjects(platformIn('shop')).filter(stands))
  if (plain.includes('{{')) throw new Error('A manifest holds braces that Helm would read as its own.')
  const objects = platformObjects(platformIn(release, resources)).filter(stands)
  return objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')
}
