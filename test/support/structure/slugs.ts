/** Tests of hosts share one Docker, in which an app is known by its slug. */
import type { Tree } from './tree.ts'

const HOST_TEST = /^test\/hosts\/.*\.test\.ts$/
const SLUG = /\.app\('([a-z0-9-]+)'|\bSLUG = '([a-z0-9-]+)'/g

const slugsIn = (text: string): Set<string> => new Set([...text.matchAll(SLUG)].map(([, app, own]) => app ?? own ?? ''))

/** Slugs that two test files use: side by side one would stop what runs of the other. */
export const sharedSlugs = (tree: Tree): string[] => {
  const users = new Map<string, string[]>()
  for (const [path, text] of [...tree].filter(([name]) => HOST_TEST.test(name)))
    for (const slug of slugsIn(text)) users.set(slug, [...(users.get(slug) ?? []), path])
  return [...users].flatMap(([slug, paths]) => (paths.length > 1 ? [`${slug} is used by ${paths.join(' and ')}`] : []))
}
