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
    title: 'The upload has no compose file, and is no project that is known without one',
    next: 'Put compose.yaml, or a Dockerfile, at the root of the upload, or what the project is recognised by.',
  },
  // ---- the compose file
  COMPOSE_REFUSED: {
    status: 400,
    title: 'The compose file asks for what may not run here',
    next: 'Change each place that errors[] points at; every entry says what to write instead.',
  },
  // ---- the app
  BUDGET_REFUSED: {
    status: 409,
    title: 'What runs cannot be given the budget',
    next: 'Ask for at least what its services use and declare; until then they keep what they have.',
  },
  REPLICAS_REFUSED: {
    status: 409,
    title: 'One of it runs',
    next: 'Scale apps whose service for visitors keeps nothing: give it no volume, nor what depends on it.',
  },
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
  PREVIEW_LIMIT: {
    status: 409,
    title: 'The app has as many previews as it may',
    next: 'Delete one of them by DELETE …/previews/:id, or wait until one ends.',
  },
  PREVIEW_TAKEN: {
    status: 409,
    title: 'Another app is the preview of this branch',
    next: 'Ask again for a preview of the branch, which replaces it, or delete it first.',
  },
  BAD_PREVIEW: {
    status: 409,
    title: 'The app cannot be a preview of what it names',
    next: 'Name an app of the same account that is no preview itself.',
  },
  APP_STORAGE: {
    status: 409,
    title: 'The uploads and backups of the account take as much storage as it may have',
    next: 'Delete backups and apps that are no longer used; uploads that no kept release was made from go within a day. GET /api/account tells what is used.',
  },
  APP_LIMIT: {
    status: 409,
    title: 'The account has as many apps as it may',
    next: 'Delete one that is no longer used.',
  },
  APP_UNHEALTHY: {
    status: 409,
    title: 'Something of the live release does not run, and could not be put right',
    next: 'Read its log, mend it, and deploy or roll back; each begins anew.',
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
    next: 'Upload it by POST …/sources; GET …/sources lists what is there.',
  },
  GIT_FAILED: {
    status: 409,
    title: 'The repository could not be fetched',
    next: 'Check url and ref; for one that is not for everybody write a login for its host by PUT /api/apps/registries/<host>.',
  },
  BAD_REGISTRY: {
    status: 400,
    title: 'The registry, or the login for it, is none that images can be taken by',
    next: 'Name it as images do, as ghcr.io or registry.example.com:5000, and a user without a colon.',
  },
  REGISTRY_LIMIT: {
    status: 409,
    title: 'The account has logins for as many registries as it may',
    next: 'Remove one that is no longer used.',
  },
  FIELD_IN_MANIFEST: {
    status: 409,
    title: 'A manifest says this of the app, and nobody else may',
    next: 'Change it in the manifest; or take the field out of the manifest and of the resource, and ask again.',
  },
  MANIFEST_BEHIND: {
    status: 409,
    title: 'The manifest asks for what is older than what was deployed over REST since',
    next: 'Name a newer upload, or send the older one again by POST …/sources, which makes it the newest; or take the field out.',
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
  // ---- domains and access
  PRIVATE_APP: {
    status: 401,
    title: 'The app is private',
    next: 'Open its address in a browser and enter its password, or use an access link of its owner.',
  },
  PRECONDITION_REQUIRED: {
    status: 428,
    title: 'An apply has to say what it was planned on',
    next: 'Send the ETag of the GET of the same resource as If-Match.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    title: 'What is there is no longer what If-Match names',
    next: 'Read it again, plan again, and apply that.',
  },
  IDEMPOTENCY_KEY_REQUIRED: {
    status: 400,
    title: 'An apply needs an Idempotency-Key',
    next: 'Send Idempotency-Key with 1 to 255 characters of your own; a repeat with the same one is the same apply.',
  },
  PLAN_STALE: {
    status: 409,
    title: 'The plan was made on something else than what is there now',
    next: 'Plan again, look at it, and apply that.',
  },
  UNKNOWN_PLAN: { status: 404, title: 'There is no such plan of this app', next: 'Plan first, and apply its plan_id.' },
  CERTIFICATE_MISSING: {
    status: 409,
    title: 'No certificate was obtained for a domain in time',
    next: 'Look at checks of the domain: it has to lead to the host and to admit its CA; the proxy goes on trying.',
  },
  LINK_LIMIT: {
    status: 409,
    title: 'The app has as many access links as it may',
    next: 'Revoke one that is no longer used.',
  },
  DOWNTIME_NOT_CONFIRMED: {
    status: 409,
    title: 'A service that keeps something would stop, and nobody has confirmed that',
    next: 'Look at the plan (?dry_run=1), then ask again with ?confirm_downtime=1; or set hand_over.downtime to allow.',
  },
  // ---- a release
  BUILD_FAILED: {
    status: 409,
    title: 'The build failed on the host',
    next: 'Read log_tail, correct the project, deploy again.',
  },
  PACKAGE_REFUSED: {
    status: 409,
    title: 'The build failed, and asked for a host that is not on the list of packages',
    next: 'Take it from a host that is on the list, or bring it in the upload; who runs the host may add to packages of the Host.',
  },
  PULL_FAILED: {
    status: 409,
    title: 'An image could not be pulled',
    next: 'Check its name, and that the host may pull it; deploy again.',
  },
  IMAGE_MISSING: {
    status: 409,
    title: 'An image of the release is no longer on the host',
    next: 'Roll back with rebuild: true, which builds its upload again.',
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
  // ---- a command
  COMMAND_FAILED: {
    status: 409,
    title: 'A command did not end well',
    next: 'Read its output, correct it, and run it or deploy again.',
  },
  COMMAND_TIMEOUT: {
    status: 409,
    title: 'A command took longer than it was given, and was stopped',
    next: 'Give it more seconds, or less to do.',
  },
  COMMAND_UNKNOWN: {
    status: 409,
    title: 'A command was begun, and nobody knows how it ended',
    next: 'Look at what it has done; run it again, or declare it repeatable.',
  },
  // ---- a backup
  BACKUP_FAILED: {
    status: 409,
    title: 'What a volume holds could not be kept',
    next: 'Read detail, put it right, and ask for another one.',
  },
  BACKUP_TOO_LARGE: {
    status: 409,
    title: 'The volume has more than a backup may have',
    next: 'Keep less in it, or have a command of the app (POST …/run) bring what it holds elsewhere.',
  },
  BACKUP_NOT_READY: {
    status: 409,
    title: 'The backup is not there to be taken',
    next: 'Wait until its state is succeeded; take another one where it has failed.',
  },
  BACKUP_IN_USE: {
    status: 409,
    title: 'The backup is under way, or is being restored',
    next: 'Wait until that has ended, or cancel it.',
  },
  RESTORE_NOT_CONFIRMED: {
    status: 409,
    title: 'A restore replaces all that the volume holds, and nobody has confirmed that',
    next: 'Look at the plan (?dry_run=1), then ask again with ?confirm= and the name of the volume.',
  },
  RESTORE_FAILED: {
    status: 409,
    title: 'The volume could not be restored; it holds what it held before',
    next: 'Read detail and the log of its services; restore another backup, or deploy what can read this one.',
  },
  RELEASE_FAILED: {
    status: 409,
    title: 'The release did not come up; the one before it goes on serving',
    next: 'Read reason and log_tail, correct it, deploy again.',
  },
} as const satisfies Record<string, ProblemEntry>
