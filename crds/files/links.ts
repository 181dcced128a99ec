/**
 * Symbolic links of an upload: each leads to a file or folder of the same upload, by a relative path, whatever way it takes.
 * Source: POSIX 1003.1, path resolution; CWE-59 (link following).
 */

/** Links in one path, and of links to links. */
const HOPS_MAX = 32

/** Where a relative text leads from a folder, without looking at links; null when it leads out, or is absolute. '' is the root. */
const joined = (folder: readonly string[], text: string): string[] | null => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  if (text === '' || /^[~/]|^[a-z]:|[\\\u0000-\u001f]/i.test(text)) return null
  return [...folder, ...text.split('/').filter((part) => part !== '' && part !== '.')]
}

/**
 * The path with every link in it followed, part by part, as a file system does; `.` for the root. Null when it leads out of the
 * upload or never ends. What is at its end may be missing.
 * @param links target by path, relative to the folder that the link lies in
 */
export const followed = (path: string, links: ReadonlyMap<string, string>): string | null => {
  const open = path.split('/').reverse()
  const done: string[] = []
  let hops = 0
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part === '..') {
      if (done.length === 0) return null
      done.pop()
      continue
    }
    const link = links.get([...done, part].join('/'))
    if (link === undefined) {
      done.push(part)
      continue
    }
    const parts = joined([], link)
    if (parts === null || ++hops > HOPS_MAX) return null
    open.push(...parts.reverse())
  }
  return done.length === 0 ? '.' : done.join('/')
}

/** How a path is named from the folder of another: `../lib/x` for `lib/x` from `bin/y`. */
export const relativeFrom = (path: string, to: string): string => {
  const from = path.split('/').slice(0, -1)
  const parts = to === '.' ? [] : to.split('/')
  const shared = from.findIndex((part, place) => part !== parts[place])
  const common = shared < 0 ? Math.min(from.length, parts.length) : shared
  const up = from.slice(common).map(() => '..')
  return [...up, ...parts.slice(common)].join('/') || '.'
}

type Found = { path: string; link: string }

/** What is wrong with a link; else its text by the shortest way. */
export type LinkJudged = { path: string; fault: string } | { path: string; link: string }

/**
 * Judges all links of an upload at once.
 * @param files paths of its files @param folders of its folders that hold something
 */
export const judgeLinks = (
  found: readonly Found[],
  { files, folders }: { files: ReadonlySet<string>; folders: ReadonlySet<string> },
): LinkJudged[] => {
  const links = new Map(found.map(({ path, link }) => [path, link]))
  return found.map(({ path, link }) => {
    const end = followed(path, links)
    if (end === null)
      return { path, fault: `the link to ${JSON.stringify(link.slice(0, 120))} leads out of the upload` }
    if (end === '.' || path.startsWith(`${end}/`)) return { path, fault: 'the link leads to a folder that it lies in' }
    if (files.has(end) || folders.has(end)) return { path, link: relativeFrom(path, end) }
    return { path, fault: `the link to ${JSON.stringify(link.slice(0, 120))} leads to nothing in the upload` }
  })
}
