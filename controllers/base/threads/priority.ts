/**
 * Priorities of single threads (setpriority(2): on Linux each thread has one of its own). Text of callers is judged beside the thread
 * that answers health, lease and everybody; whoever had all cores busy would let that one stand in line.
 */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'

/** A tenth of the share that a thread of plain priority has where both want the same core, and all of it where nobody does. */
const NICENESS = 10

/** Lets the calling thread give way to those of plain priority. Where threads have no priority of their own, they stay equals. */
export const giveWay = (): void => {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS)
  } catch {
    // no Linux, or a sandbox without it: slower for others, and as right
  }
}
