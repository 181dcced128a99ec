/** Refusals about hosts (rules/host.md#approval). */
import type { ProblemEntry } from './entry.ts'

export const HOST_PROBLEMS = {
  HOST_MISSING: { status: 409, title: 'There is no such host', next: 'Use an id from GET /api/apps/hosts.' },
  HOST_NOT_APPROVED: {
    status: 409,
    title: 'The host is not approved',
    next: 'Ask an admin of this installation to approve it once it is inspected.',
  },
  HOST_KEY_CHANGED: {
    status: 409,
    title: 'The host shows another key than the pinned one',
    next: 'Find out why; if the new key is right, put it into host_key and have the host approved anew.',
  },
  HOST_LOGIN_REFUSED: {
    status: 409,
    title: 'The host refuses the private key',
    next: "Put its public half into the authorized_keys of the host's user, or send another private_key.",
  },
  HOST_UNFIT: {
    status: 409,
    title: 'The host lacks what apps and sites need',
    next: 'Install or repair what is named here; the host is looked at again by itself.',
  },
  HOST_NOT_ISOLATED: {
    status: 409,
    title: 'The host cannot keep its apps apart',
    next: 'Repair what is named here; the host is looked at again by itself, and nothing is started on it meanwhile.',
  },
  HOST_UNREACHABLE: {
    status: 503,
    title: 'The host does not answer',
    next: 'Check address, port and firewall; the host is tried again by itself.',
  },
  HOST_FULL: {
    status: 409,
    title: 'The host has no room left',
    next: 'Ask for less, free room on it or ask who runs it to, or take another host; what is live stays, and what waits goes on by itself.',
  },
  HOST_CORDONED: {
    status: 409,
    title: 'The host takes nothing new',
    next: 'Take another host; who runs it may let it take apps again by PATCH /api/apps/hosts/{id} {"cordoned": false}.',
  },
  SAME_HOST: { status: 409, title: 'The app lives on that host', next: 'Name another host.' },
  HOST_LEFT: {
    status: 409,
    title: 'The app has left that host lately',
    next: 'Move it there again when what is left of it has gone; until then its visitors there are sent on.',
  },
  VOLUMES_STAY: {
    status: 409,
    title: 'What the app keeps is not moved',
    next: 'Keep less, or in volumes with a name; or deploy the project as another app on that host, and bring there what this one keeps: GET /api/apps/{id}/backups/{backup}/content gives an archive of it.',
  },
  VOLUMES_AWAY: {
    status: 409,
    title: 'What volumes hold cannot be read where they are',
    next: 'Move it once its host is approved and answers again; or deploy the project as another app on that host, and bring there what the newest backup has: GET /api/apps/{id}/backups lists them, …/backups/{backup}/content gives one.',
  },
  VOLUMES_NOT_MOVED: {
    status: 409,
    title: 'What volumes hold did not get to the other host',
    next: 'Read detail, put it right, and move it again; nothing was lost.',
  },
  MOVE_TOO_LATE: {
    status: 409,
    title: 'The move took longer than the app may stand still',
    next: 'Move it again when both hosts have less to do, or with less in its volumes; nothing was lost.',
  },
  CA_LIMIT: {
    status: 429,
    title: 'The certificate authority would refuse',
    next: 'Come again when there is room, use a name below another domain, or ask who runs the host to raise certificates_per_week once the CA allows more.',
  },
  HOST_IN_USE: {
    status: 409,
    title: 'Apps or sites live on the host',
    next: 'Move or delete them first.',
  },
  NOT_INSPECTED: {
    status: 409,
    title: 'The host was not inspected with a good result',
    next: 'Read its inspection, repair what it names, and approve it then.',
  },
  NO_CREDENTIAL: {
    status: 409,
    title: 'There is no private key to log in with',
    next: 'Send private_key with PATCH /api/apps/hosts/{id}.',
  },
  BAD_PRIVATE_KEY: {
    status: 400,
    title: 'private_key is no key that can be used',
    next: 'Send an unencrypted private key in OpenSSH or PEM form, Ed25519 by choice.',
  },
  BAD_HOST_KEY: {
    status: 400,
    title: 'host_key is no public host key',
    next: 'Send the type and the base64 of /etc/ssh/ssh_host_ed25519_key.pub.',
  },
  BAD_HOST_ADDRESS: {
    status: 400,
    title: 'The address is not acceptable',
    next: 'Use a public IP address, or a name that leads to one.',
  },
  ROUTE_TAKEN: {
    status: 409,
    title: 'The hostname is served by something else on this host',
    next: 'Use another hostname, or take it from what has it.',
  },
} as const satisfies Record<string, ProblemEntry>
