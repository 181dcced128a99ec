import type { Kubectl } from '../../../hack/platform/kubectl.ts'

/** Kinds that come and go by themselves. */
const fleeting = /^(events|componentstatuses|endpointslices\.|endpoints$)/

/** Every object in a cluster as `namespace kind/name`, sorted: two are equal when nothing was left in between. */
export const takeInventory = async (kubectl: Kubectl): Promise<string[]> => {
  const kinds = (await kubectl(['api-resources', '--verbs=list', '-o', 'name'])).trim().split('\n')
  const wanted = kinds.filter((kind) => !fleeting.test(kind)).join(',')
  const format = '{range .items[*]}{.metadata.namespace} {.kind}/{.metadata.name}{"\\n"}{end}'
  const text = await kubectl(['get', wanted, '--all-namespaces', '-o', `jsonpath=${format}`])
  return text.trim().split('\n').sort()
}
