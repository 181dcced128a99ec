import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf, makeOwnFolder } from '../../lib/files.ts'
import { failing, type Progress } from '../../lib/progress.ts'
import { paths, stateDir } from '../../lib/state.ts'
import { type BoxStage, removeBoxes, startBoxes } from './boxes.ts'

/** The boxes of `hack/up --with boxes`: machines and disks outlive a stop of it, as those of a cloud would. */

const folderOf = (): string => `/var/tmp/bottega-boxes-${identityOf(stateDir)}`

type UpBoxes = { parts: readonly string[]; owner: string; apiPort: number; progress: Progress }

/** Null where boxes are not among the parts that are wanted. */
export async function openUpBoxes({ parts, owner, apiPort, progress }: UpBoxes): Promise<BoxStage | null> {
  if (!parts.includes('boxes')) return null
  const folder = folderOf()
  makeOwnFolder(folder, 0o755)
  const step = progress.step('Docker of boxes')
  const logFile = join(paths.logs, 'dockerd-boxes.log')
  const stage = await startBoxes({ folder, owner, logFile, apiPort, progress }).catch(failing(step))
  step.done()
  return stage
}

/** After the processes have ended; with `purge` the machines and their disks go too. */
export async function removeUpBoxes({ purge }: { purge: boolean }): Promise<void> {
  if (existsSync(folderOf())) await removeBoxes(folderOf(), { purge })
}
