import { stringify } from 'yaml'
import { API, CONTROLLERS, developmentNames } from '../../controllers/base/env.ts'
import { type Manifest, manifestOf } from '../../crds/kernel/manifest.ts'
import { platformIn, platformObjects } from '../../crds/kernel/platform.ts'
import { KINDS } from '../../crds/kinds.ts'
import { PUBLIC_BLOCKS } from '../../crds/values/address.ts'

/** The templates of the chart that follow from the kinds: what stands in crds/kernel/platform.ts is stated there only. */

const folder = 'charts/bottega/templates'
const header = (from: string) => `{{- /* Made by hack/generate from ${from}; edit that. */ -}}\n`

/** Path from the root → text. */
export function chartTemplates(): Map<string, string> {
  const names = KINDS.map((kind) => manifestOf(kind).metadata.name)
  return new Map([
    [`${folder}/platform.yaml`, header('crds/kernel/platform.ts') + platformTemplate()],
    [
      `${folder}/_definitions.tpl`,
      `${header('crds/kinds.ts')}{{- define "bottega.definitions" -}}\n${names.join(', ')}\n{{- end -}}\n`,
    ],
    [`${folder}/_settings.tpl`, settingsTemplate()],
  ])
}

/** What the processes refuse by themselves, and where they connect to at a user's word. */
function settingsTemplate(): string {
  const development = [...new Set([...developmentNames(API), ...developmentNames(CONTROLLERS)])].sort()
  const define = (name: string, text: string) => `{{- define "bottega.${name}" -}}\n${text.trimEnd()}\n{{- end -}}\n`
  return [
    header('controllers/base/env.ts and crds/values/address.ts'),
    define('developmentSettings', development.join(', ')),
    define('publicBlocks', stringify(PUBLIC_BLOCKS.map((ipBlock) => ({ ipBlock })))),
  ].join('')
}

const release = '{{ .Release.Namespace }}'
const resources = '{{ include "bottega.resourceNamespace" . }}'

/** Identities, rights and policies. The definitions are applied by a hook: Helm never upgrades those it installs itself. */
function platformTemplate(): string {
  const stands = ({ kind }: Manifest) => kind !== 'CustomResourceDefinition'
  const plain = JSON.stringify(platformObjects(platformIn('shop')).filter(stands))
  if (plain.includes('{{')) throw new Error('A manifest holds braces that Helm would read as its own.')
  const objects = platformObjects(platformIn(release, resources)).filter(stands)
  return objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')
}
