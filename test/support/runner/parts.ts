/** The parts of the suite: which files each has, what they stand on, and what may run beside what. */
import { clearNode } from '../../../hack/stage/node/node.ts'
import type { Places } from './schedule.ts'

const minute = 60_000

/** A part on the stage gets the real control plane and PostgreSQL. Long files begin, so that none is left alone at the end. */
export const parts = {
  unit: {
    globs: ['test/*.test.ts', 'test/support/**/*.test.ts', 'test/crds/**/*.test.ts'],
    first: ['test/{patterns,shell,structure}.test.ts'],
    onStage: false,
    isPure: true,
    // the patterns of the tree, where none was judged before
    deadlineMs: 25 * minute,
  },
  integration: {
    globs: ['test/controllers/**/*.test.ts', 'test/api/**/*.test.ts', 'test/e2e/**/*.test.ts'],
    first: [
      'test/e2e/outages/{stored,webhook-chaos,storm}.test.ts',
      'test/e2e/truths/{definitions,handover}.test.ts',
      'test/{e2e/widget,api/command/outcome}.test.ts',
      'test/controllers/converge/*.test.ts',
    ],
    onStage: true,
    deadlineMs: 15 * minute,
  },
  hosts: {
    globs: ['test/hosts/**/*.test.ts'],
    first: [
      'test/hosts/*/{converge,crash}-after.test.ts',
      'test/hosts/devbox/docker.test.ts',
      'test/hosts/**/{crash,converge,traffic,faults,drain,order}.test.ts',
    ],
    onStage: true,
    docker: true,
    deadlineMs: 20 * minute,
  },
  pages: { globs: ['test/pages/**/*.test.ts'], onStage: true, deadlineMs: 15 * minute },
  cluster: {
    globs: ['test/cluster/**/*.test.ts'],
    first: ['test/cluster/chart.test.ts'],
    onStage: false,
    deadlineMs: 30 * minute,
    after: clearNode,
  },
} as const satisfies Record<string, Part>

/**
 * One after another; the files of the parts of one run from one queue, so many side by side. On real parts a file waits half of
 * its time, and those that wait for a node or a host more: with three of these beside two others both cores have work (97 %, and
 * 67 % with two beside two). A node and the hosts both change the machine and never meet.
 */
export const groups: readonly Group[] = [
  { parts: ['unit'], places: { total: 2 } },
  { parts: ['cluster', 'pages'], places: { total: 4, lanes: { cluster: 2, pages: 2 } } },
  { parts: ['hosts', 'integration'], places: { total: 5, lanes: { hosts: 3, integration: 3 } } },
]

export type Group = { parts: readonly PartName[]; places: Places }
export type Part = {
  globs: readonly string[]
  /** Files that are begun with, for they take long. */
  first?: readonly string[]
  onStage: boolean
  /** Nothing outside is touched: what fails, fails. */
  isPure?: boolean
  /** The stage has a Docker engine as well. */
  docker?: boolean
  deadlineMs: number
  /** Clears away what test files that were cut off could not. */
  after?: () => Promise<void>
}
export type PartName = keyof typeof parts
export const partNames = groups.flatMap((group) => group.parts)
export type Chosen = { name: PartName; part: Part; files: string[] }

/** How long parts take, by what their files take added up: those of a group side by side, the groups one after another. */
export const wallOf = (costs: ReadonlyMap<string, number>): number =>
  groups.reduce((sum, { parts: names, places }) => {
    const lanes = names.map((name) => ({ name, ms: costs.get(name) ?? 0 }))
    const all = lanes.reduce((ms, lane) => ms + lane.ms, 0) / places.total
    return sum + Math.max(all, ...lanes.map(({ name, ms }) => ms / (places.lanes?.[name] ?? places.total)))
  }, 0)
