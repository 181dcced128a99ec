/** The builds of a release, each in a cell: what the job for images reads of them (scripts/parts/building/cell.sh: read_cells). */
import { cellOf } from '../../../crds/app/compose/printing/bridges.ts'
import { escaped, printCells, sourcePolicy } from '../../../crds/app/compose/printing/printcell.ts'
import { MIB_PER_GIB } from '../../../crds/app/compose/project.ts'
import type { AppBudget } from '../../../crds/app/schema.ts'
import type { SealedRelease } from '../../../crds/app/sealed.ts'
import { gateFiles } from '../../../crds/host/gate.ts'

/** Of one image, within the limit of the job for all of them. */
const BUILD_SECONDS = 1_500
const BUILD_PIDS = 1_024

export type BuildCell = {
  /** Of the app (`originOf`): nobody else's build finds what its builds have kept. */
  origin: string
  budget: Required<AppBudget>
  /** The image that builds run in. */
  builder: string
  /** Registries that images are taken from. */
  registries: readonly string[]
  /** What builds reach beside these, and the image of what they go through then; null: every public address, through nothing. */
  gate: { image: string; packages: readonly string[] } | null
  /** Nothing is built where the guard of the host's apps does not stand. */
  isGuarded: boolean
}

const gateLines = ({ gate, registries }: BuildCell): string[] => {
  if (gate === null) return ['']
  const { 'gate.cfg': config, names, below, closed } = gateFiles(gate.packages, registries)
  return [gate.image, ...[config, names, below, closed].map(escaped)]
}

/** @param release one that builds something */
export const cellLines = ({ project }: SealedRelease, cell: BuildCell): string[] => {
  const builds = printCells(project)
  const { origin, budget, builder, registries, isGuarded } = cell
  return [
    String(builds.length),
    isGuarded ? 'guarded' : '',
    cellOf(origin),
    builder,
    String(budget.cpuMillis / 1_000),
    String(budget.memoryMib),
    String(BUILD_PIDS),
    String(budget.diskGib * MIB_PER_GIB),
    String(BUILD_SECONDS),
    sourcePolicy(registries),
    ...gateLines(cell),
    ...builds.flatMap(({ service, image, context, recipe, inline, options }) => [
      service,
      image,
      context,
      recipe,
      escaped(inline ?? ''),
      String(options.length),
      ...options.map(escaped),
    ]),
  ]
}
