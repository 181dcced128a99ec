/**
 * Further names under which services find each other. A fixed name of a container and the old links are such names and no more:
 * they become aliases on the networks of the project, which nobody else is on.
 */
import type { Tree } from '../reading/parse.ts'
import { type Read, textOf, writtenOf, wrong } from '../reading/read.ts'
import type { At } from '../reading/validation.ts'

const NAME = /^[a-z0-9][a-z0-9_.-]{0,62}$/i
const LINKS_MAX = 32

/** `container_name`: an alias, for others of the project may call it so. */
export const readContainerName: Read<string> = (validation, tree) => {
  const text = tree.kind === 'scalar' ? textOf(tree) : ''
  if (!NAME.test(text)) return wrong(validation, tree, 'a name of letters, digits, -, _ and .')
  const reason =
    'Two releases run side by side, and no two containers have one name; services find it by this one all the same.'
  validation.rewrite(tree, 'fixed-name', { from: writtenOf(tree), to: `alias ${writtenOf(tree)}`, reason })
  return text
}

export type ServiceLink = { service: string; alias: string; at: At }

const readLink: Read<ServiceLink> = (validation, tree) => {
  const [service = '', alias = service, ...more] = tree.kind === 'scalar' ? textOf(tree).split(':') : []
  if (!NAME.test(service) || !NAME.test(alias) || more.length > 0)
    return wrong(validation, tree, 'service or service:alias')
  return { service, alias, at: { pointer: tree.pointer, line: tree.line } }
}

/** `links`: each a dependency, and a name where it gives one. */
export const readLinks: Read<ServiceLink[]> = (validation, tree: Tree) => {
  if (tree.kind !== 'list') return wrong(validation, tree, 'a list')
  if (tree.items.length > LINKS_MAX) return wrong(validation, tree, `a list of at most ${LINKS_MAX}`)
  const reason =
    'Services of a network find each other by name; it is a dependency, and an alias where it gives a name.'
  validation.rewrite(tree, 'no-effect', { from: writtenOf(tree), to: 'depends_on', reason })
  return tree.items.flatMap((item) => readLink(validation, item) ?? [])
}
