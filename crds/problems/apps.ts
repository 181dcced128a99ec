/** Refusals of apps (CONTRACT sections 6 and 10). */
import type { ProblemEntry } from './entry.ts'

export const APP_PROBLEMS = {
  // ---- the upload
  BAD_ARCHIVE: {
    status: 400,
    title: 'The upload cannot be read, or holds something other than plain files',
    next: 'Send a gzip-compressed tar of plain files and folders, or the JSON form.',
  },
  UNSAFE_PATH: {
    status: 400,
    title: 'A path in the upload leads out of it, or would not mean the same everywhere',
    next: 'Use relative paths with / between the names, each only once whatever its case.',
  },
  ARCHIVE_TOO_LARGE: {
    status: 413,
    title: 'The upload is larger than an app may be',
    next: 'Leave out what a build makes or fetches itself, as node_modules or .git.',
  },
  NO_COMPOSE_FILE: {
    status: 400,
    title: 'The upload has no compose file',
    next: 'Put compose.yaml or docker-compose.yml at the root of the upload.',
  },
  // ---- the compose file
  COMPOSE_REFUSED: {
    status: 400,
    title: 'The compose file asks for what may not run here',
    next: 'Change each place that errors[] points at; every entry says what to write instead.',
  },
} as const satisfies Record<string, ProblemEntry>
