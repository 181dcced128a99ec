/**
 * A command in a container of its own, as Compose is given it: with the image, env, mounts, networks and limits of a service of a
 * release, and without its ports, its aliases and its health check. Its output is read as it is written, and kept nowhere else.
 */
import { type ComposeService, MIB_PER_GIB, type Project } from '../project.ts'
import {
  inBase,
  type Json,
  joinedKey,
  LABEL,
  ownNetworks,
  type Placing,
  print,
  projectIn,
  serviceBody,
} from './print.ts'

export type PrintedRun = { project: string; owner: 'base' | 'release'; text: string }

export type RunPrint = {
  service: string
  command: readonly string[]
  /** Of its container; of its project too, unless it comes before its release. */
  name: string
  id: string
  release: number
  /** Of the app (`originOf`). */
  origin: string
  env: Readonly<Record<string, string>>
  /** Nothing of the release is there yet: its networks are made, as they will be for what is started after it. */
  isBefore: boolean
}

/** Those that are there already, by the names that they have on the host. */
const standing = (names: readonly string[], placing: Placing): Json =>
  Object.fromEntries(names.map((name) => [name, { external: true, name: `${projectIn(placing)}_${name}` }]))

const networksOf = (found: ComposeService, placing: Placing, isBefore: boolean): { own: Json; used: Json } => {
  const { project, owner } = placing
  const names = Object.keys(found.networks)
  const joined = owner === 'base' ? [] : names.filter((name) => inBase(project, name))
  const made = isBefore && owner === 'release' ? ownNetworks([found], placing) : standing(names, placing)
  const base = standing(joined, { ...placing, owner: 'base' })
  const all = { ...made, ...Object.fromEntries(joined.map((name) => [joinedKey(name), base[name]])) }
  return { own: all, used: Object.fromEntries(Object.keys(all).map((name) => [name, {}])) }
}

const volumesOf = ({ mounts }: ComposeService, slug: string): Json =>
  Object.fromEntries(
    mounts.flatMap((mount) =>
      mount.type === 'volume' ? [[mount.source, { external: true, name: `${slug}-base_${mount.source}` }]] : [],
    ),
  )

/** @param project with its images pinned @returns null when it has no such service */
export const printRun = (project: Project, run: RunPrint): PrintedRun | null => {
  const found = project.services.find(({ name }) => name === run.service)
  if (!found) return null
  const { release, origin, isBefore } = run
  const owner = found.stateful ? 'base' : 'release'
  const placing: Placing = { project, owner, release, origin }
  const { own, used } = networksOf(found, placing, isBefore)
  const volumes = volumesOf(found, project.slug)
  const { tty: _tty, stdinOpen: _stdin, ...rest } = found
  const once: ComposeService = {
    ...rest,
    command: [...run.command],
    environment: { ...found.environment, ...run.env },
    health: { disable: true },
    restart: 'no',
  }
  const name = isBefore ? projectIn({ ...placing, owner: 'release' }) : run.name
  const text = print({
    name,
    services: {
      [run.name]: {
        ...serviceBody(once, owner),
        container_name: run.name,
        logging: { driver: 'none' },
        networks: used,
        labels: {
          [`${LABEL}.app`]: project.slug,
          [`${LABEL}.run`]: run.id,
          [`${LABEL}.release`]: String(release),
          ...(project.diskGib !== undefined && { [`${LABEL}.disk`]: String(project.diskGib * MIB_PER_GIB) }),
        },
      },
    },
    networks: own,
    ...(Object.keys(volumes).length > 0 && { volumes }),
  })
  return { project: name, owner, text }
}
