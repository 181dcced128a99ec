import { stringify } from 'yaml'
import { type Manifest, manifestOf } from '../../crds/kernel/manifest.ts'
import { platformIn, platformObjects } from '../../crds/kernel/platform.ts'
import { KINDS } from '../../crds/kinds.ts'

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
  ])
}

const release = '{{ .Release.Namespace }}'

/** Identities, rights and policies. The definitions are applied by a hook: Helm never upgrades those it installs itself. */
function platformTemplate(): string {
  const stands = ({ kind }: Manifest) => kind !== 'CustomResourceDefinition'
  const plain = JSON.stringify(platformObjects(platformIn('shop')).filter(stands))
  if (plain.includes('{{')) throw new Error('A manifest holds braces that Helm would read as its own.')
  const objects = platformObjects(platformIn(release)).filter(stands)
  return objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')
}
