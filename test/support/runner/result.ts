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

/** What is looked for first, where of a long output only the end is at hand. */
export function tellWhich({ late = [], unsteady = [], bad = [] }: FileResult): void {
  for (const file of late) console.log(`no time left: ${file} was not run; hack/test ${file} does`)
  for (const file of unsteady) console.log(`unsteady: ${file} failed, and passed when run again alone`)
  for (const what of bad) console.log(`failed: ${what}`)
  if (late.length > 0) console.log(`· ${late.length} files were not run, for no time was left`)
}

export const nothing: FileResult = { passed: 0, failed: 0, skipped: 0 }

/** To what is known of a run. */
export function add(total: FileResult, more: FileResult): void {
  total.passed += more.passed
  total.failed += more.failed
  total.skipped += more.skipped
  if (more.late) total.late = [...(total.late ?? []), ...more.late]
  if (more.bad) total.bad = [...(total.bad ?? []), ...more.bad]
  if (more.unsteady) total.unsteady = [...(total.unsteady ?? []), ...more.unsteady]
}
