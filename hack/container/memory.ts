/**
 * How a process of Bottega keeps memory, in the image and wherever its bundle is started otherwise (hack/decisions/120). Bodies of
 * megabytes come and go: what they leave is given back instead of kept for the next.
 */
export const memoryEnv = {
  // As measured, a larger young generation makes nothing faster, and is filled before it is looked through.
  NODE_OPTIONS: '--disable-warning=ExperimentalWarning --max-semi-space-size=8',
  // glibc would raise its threshold with the first large buffer, and keep all that is smaller from then on.
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '262144',
  MALLOC_ARENA_MAX: '2',
} as const
