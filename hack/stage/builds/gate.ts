import { importImage } from './imported.ts'

/**
 * The image that builds go through, for a Docker that reaches no registry: the machine's HAProxy with its libraries, and a busybox for a
 * shell. Its Host names it as `gate`.
 */
export const LOCAL_GATE = 'bottega.local/haproxy:1'

const HAPROXY = '/usr/sbin/haproxy'
/** What the script of a gate calls (controllers/kinds/app/scripts/parts/building/gated.sh). */
const APPLETS = ['sh', 'sleep']

/** Gives it to the Docker behind a socket, unless it has it. @throws CommandRefusal with what Docker said */
export const importGate = (socket: string): Promise<void> =>
  importImage(socket, {
    name: LOCAL_GATE,
    what: 'The gate of builds on an app host',
    packages: [{ name: 'haproxy', files: [HAPROXY] }],
    programs: () => [{ from: HAPROXY, to: 'usr/sbin/haproxy' }],
    applets: APPLETS,
    folders: ['etc', 'proc', 'sys', 'tmp', 'gate'],
    passwd: 'nobody:x:65534:65534:nobody:/:/bin/sh\n',
  })
