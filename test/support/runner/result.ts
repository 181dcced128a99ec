/** The line that the runner reads a file's counts from; always the last that it prints. */
export const resultPrefix = '#bottega-test-result '

export type FileResult = {
  passed: number
  failed: number
  skipped: number
  /** Files that failed and were not run again, or failed again; nothing when there were none. */
  bad?: string[]
  /** Files that failed beside others and passed when run again alone; nothing when there were none. */
  unsteady?: string[]
  /** Files for which no time was left; nothing when there were none. */
  late?: string[]
}
