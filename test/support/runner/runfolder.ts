/** A folder that the test files of one run write into, for its judge. Those of runs that were killed go with the next one. */
import { globSync, mkdtempSync, rmSync } from 'node:fs'

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export type RunFolder = { folder: string; remove(): void }

/** @param prefix absolute; the id of this process is put behind it */
export const openRunFolder = (prefix: string): RunFolder => {
  for (const folder of globSync(`${prefix}*`))
    if (!alive(Number(folder.slice(prefix.length).split('-')[0]))) rmSync(folder, { recursive: true, force: true })
  const folder = mkdtempSync(`${prefix}${process.pid}-`)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
