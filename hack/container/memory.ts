/**
 * How a process of Bottega keeps memory and looks through it, in the image and wherever its bundle is started otherwise
 * (hack/decisions/120): bodies of megabytes come and go, and are judged beside threads.
 */
export const memoryEnv = {
  // A larger young generation makes nothing faster, and is filled before it is looked through. Four threads that collect beside two cores
  // let the thread that answers stand in line.
  NODE_OPTIONS: '--disable-warning=ExperimentalWarning --max-semi-space-size=8 --v8-pool-size=2',
  // Else each thread has an arena of its own, which keeps what was freed in it.
  MALLOC_ARENA_MAX: '2',
} as const
