/** Links of a tar: symbolic ones stay links, hard ones become the files that they are; both within the upload. */
import { judgeLinks } from '../../crds/files/links.ts'

export type PathFault = { path: string; detail: string }

/** What was found in a tar beside the files that flowed by. */
export type TarFound = {
  /** Bytes by path. */
  files: Map<string, number>
  links: { path: string; link: string }[]
  /** Second names of files: the name that came first, by the other. */
  twins: { path: string; of: string }[]
  faults: PathFault[]
}

/** `byFile`: further names of a file, by its own. `links`: by the shortest way. */
export type SettledLinks = {
  faults: PathFault[]
  byFile: Map<string, string[]>
  links: { path: string; link: string }[]
}

/** Files that have several names are read into memory while they are given out under the others. */
const TWINS_MAX_BYTES = 33_554_432

const foldersOf = (path: string): string[] => {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, place) => parts.slice(0, place + 1).join('/'))
}

/** Adds what is wrong with second names. @returns the file that each is, by that file's own name */
const judgeTwins = ({ files, twins, faults }: TarFound): Map<string, string[]> => {
  const first = new Map(twins.map(({ path, of }) => [path, of]))
  const byFile = new Map<string, string[]>()
  let bytes = 0
  for (const { path, of } of twins) {
    const file = files.has(of) ? of : (first.get(of) ?? of)
    const size = files.get(file)
    bytes += size ?? 0
    if (size === undefined) faults.push({ path, detail: 'the hard link is to nothing in the upload.' })
    else if (bytes > TWINS_MAX_BYTES) {
      faults.push({ path, detail: `files with several names have more than ${TWINS_MAX_BYTES} bytes; send a copy.` })
    } else byFile.set(file, [...(byFile.get(file) ?? []), path])
  }
  return byFile
}

/** Judges all that was found, at once. */
export const settle = ({ files, links, twins, faults: known }: TarFound): SettledLinks => {
  const faults = [...known]
  const byFile = judgeTwins({ files, links, twins, faults })
  const paths = new Set([...files.keys(), ...twins.map(({ path }) => path)])
  const folders = new Set([...paths, ...links.map(({ path }) => path)].flatMap(foldersOf))
  const judged = judgeLinks(links, { files: paths, folders })
  for (const one of judged) if ('fault' in one) faults.push({ path: one.path, detail: `${one.fault}.` })
  faults.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { faults, byFile, links: judged.flatMap((one) => ('link' in one ? one : [])) }
}
