/**
 * What is mounted, as Compose is told, and what has to lie on the host for it: below the folder of the app, `base/` for what its
 * base mounts, by content, and `r<number>/` for what belongs to a release.
 */
import type { ComposeService, Mount, Project } from '../project.ts'

type Json = Record<string, unknown>

export type Owner = 'base' | 'release'

/**
 * To be made before anything is started, `path` from the folder of the app. `folder` and `file`: empty, where a mount lies in another
 * that is read-only and has no such place. `text`: a secret or config.
 */
export type Placed = { path: string } & ({ sort: 'folder' | 'file' } | { sort: 'text'; text: string })

type Bind = Mount & { type: 'bind' }

/** Where the base keeps what it mounts: by content, under the name that it had. */
export const baseFile = ({ digest, source }: Bind): string =>
  `files/${digest}/${source === '.' ? 'source' : source.slice(source.lastIndexOf('/') + 1)}`

const placeOf = (mount: Mount & { type: 'bind' | 'text' }, owner: Owner): string => {
  if (mount.type === 'text') return `sealed/${mount.digest}`
  if (owner === 'base') return baseFile(mount)
  return mount.source === '.' ? 'source' : `source/${mount.source}`
}

export const mountsOf = ({ mounts }: ComposeService, owner: Owner): { volumes: Json[]; tmpfs: string[] } => {
  const volumes: Json[] = []
  const tmpfs: string[] = []
  for (const mount of mounts) {
    const { target } = mount
    switch (mount.type) {
      case 'volume':
        volumes.push({ type: 'volume', source: mount.source, target, read_only: mount.readOnly })
        break
      case 'anonymous':
        volumes.push({ type: 'volume', target })
        break
      case 'bind':
      case 'text': {
        const source = `./${placeOf(mount, owner)}`
        volumes.push({ type: 'bind', source, target, read_only: true, bind: { create_host_path: false } })
        break
      }
      case 'tmpfs':
        tmpfs.push(
          `${target}:size=${mount.sizeBytes}${mount.mode === undefined ? '' : `,mode=${mount.mode.toString(8)}`}`,
        )
        break
      default:
        mount satisfies never
    }
  }
  return { volumes, tmpfs }
}

const isFile = (mount: Mount): boolean => mount.type === 'text' || (mount.type === 'bind' && mount.isFile === true)

/** Places within a folder of the upload at which something else is mounted; who mounts cannot make them in what is read-only. */
const mountPoints = ({ mounts }: ComposeService, owner: Owner, root: string): Placed[] =>
  mounts.flatMap((outer) => {
    if (outer.type !== 'bind' || isFile(outer)) return []
    const inner = mounts.filter(({ target }) => target.startsWith(`${outer.target}/`))
    return inner.map((mount): Placed => {
      const path = `${root}/${placeOf(outer, owner)}${mount.target.slice(outer.target.length)}`
      return { path, sort: isFile(mount) ? 'file' : 'folder' }
    })
  })

const placedFor = (service: ComposeService, owner: Owner, root: string): Placed[] => {
  const texts = service.mounts.flatMap((mount): Placed[] =>
    mount.type === 'text' ? [{ path: `${root}/${placeOf(mount, owner)}`, sort: 'text', text: mount.text }] : [],
  )
  return [...texts, ...mountPoints(service, owner, root)]
}

/** Sorted by path. What the base mounts lies with the release too, where it is tried (trial.ts). @param release its number */
export const placedOf = ({ services }: Project, release: number): Placed[] => {
  const all = services.flatMap((service): Placed[] => [
    ...placedFor(service, 'release', `r${release}`),
    ...(service.stateful ? placedFor(service, 'base', 'base') : []),
  ])
  const byPath = new Map(all.map((placed) => [placed.path, placed]))
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}
