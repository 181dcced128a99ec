import { buildkitVersion } from '../../lib/tooltable.ts'
import { importImage } from './imported.ts'

/**
 * The image that builds run in, for a Docker that reaches no registry: the programs of moby/buildkit, built here from its Go
 * module, the machine's runc with its libraries, and a busybox for a shell. Its Host names it as `builder`.
 */
export const LOCAL_BUILDER = `bottega.local/buildkit:${buildkitVersion}`

const RUNC = '/usr/sbin/runc'
/** What the script of a cell calls (controllers/kinds/app/scripts/cell.sh). */
const APPLETS = ['cat', 'cut', 'date', 'du', 'find', 'grep', 'kill', 'mkdir', 'rm', 'sh', 'sleep', 'tail']

/** Gives it to the Docker behind a socket, unless it has it. @throws CommandRefusal with what Docker said */
export const importBuilder = (socket: string, tool: (name: string) => string): Promise<void> =>
  importImage(socket, {
    name: LOCAL_BUILDER,
    what: 'The builder of an app host',
    packages: [{ name: 'runc', files: [RUNC] }],
    programs: () => [
      ...['buildkitd', 'buildctl'].map((name) => ({ from: tool(name), to: `usr/bin/${name}` })),
      { from: RUNC, to: 'usr/bin/buildkit-runc' },
    ],
    applets: APPLETS,
    folders: ['etc', 'proc', 'run', 'sys', 'tmp', 'var/lib/buildkit', 'source', 'cell'],
    passwd: 'root:x:0:0:root:/:/bin/sh\n',
  })
