/** Refusals of apps (rules/app.md#refusals). */
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
  // ---- the app
  SLUG_TAKEN: { status: 409, title: 'The name is another app on its host, or reserved', next: 'Use another slug.' },
  NO_HOST: {
    status: 409,
    title: 'No host takes apps of this account now',
    next: 'Register one and have it approved, or ask an admin to approve one.',
  },
  PASSWORD_REQUIRED: {
    status: 400,
    title: 'A private app needs a password',
    next: 'Send password, 8 to 200 characters, with access: private.',
  },
  BAD_ENV: {
    status: 400,
    title: 'The env is outside its rules',
    next: 'Use names of A-Z a-z 0-9 _ that begin with no digit and are none of the platform, and values without NUL.',
  },
  APP_LIMIT: {
    status: 409,
    title: 'The account has as many apps as it may',
    next: 'Delete one that is no longer used.',
  },
  OPERATION_RUNNING: {
    status: 409,
    title: 'An operation of the app is under way',
    next: 'Wait until it ends, or cancel it.',
  },
  QUEUE_FULL: {
    status: 409,
    title: 'Too many operations of the app wait for their turn',
    next: 'Wait until some have ended.',
  },
  TOO_LATE: {
    status: 409,
    title: 'The operation cannot be cancelled any more',
    next: 'Roll back to the release before it.',
  },
  UNKNOWN_SOURCE: {
    status: 409,
    title: 'There is no such upload of this account',
    next: 'Upload it by POST …/deploy.',
  },
  UNKNOWN_RELEASE: {
    status: 409,
    title: 'There is no such release to go back to',
    next: 'Take one of GET …/releases that was live.',
  },
  NOT_RELEASED: { status: 409, title: 'Nothing of the app runs yet', next: 'Deploy it first.' },
  VOLUMES_AT_RISK: {
    status: 409,
    title: 'Deleting the app would decide about its volumes',
    next: 'Say ?volumes=keep or ?volumes=delete.',
  },
  // ---- a release
  BUILD_FAILED: {
    status: 409,
    title: 'The build failed on the host',
    next: 'Read log_tail, correct the project, deploy again.',
  },
  PULL_FAILED: {
    status: 409,
    title: 'An image could not be pulled',
    next: 'Check its name, and that the host may pull it; deploy again.',
  },
  IMAGE_MISSING: {
    status: 409,
    title: 'An image of the release is no longer on the host',
    next: 'Deploy the same source again, which builds it.',
  },
  ARCH_MISMATCH: {
    status: 409,
    title: 'An image is for another processor than the host has',
    next: "Build it for the host's architecture.",
  },
  ROOT_REFUSED: {
    status: 409,
    title: 'A container would begin as root of the host',
    next: "Set user: in the compose file or USER in the Dockerfile; or have the host's Docker remap users (userns-remap).",
  },
  DISK_EXCEEDED: {
    status: 409,
    title: 'The app has more on disk than its budget, and was stopped',
    next: 'Deploy a release that keeps less, which has ten minutes to give some back; or ask for a larger budget, and deploy.',
  },
  RELEASE_FAILED: {
    status: 409,
    title: 'The release did not come up; the one before it goes on serving',
    next: 'Read reason and log_tail, correct it, deploy again.',
  },
} as const satisfies Record<string, ProblemEntry>
