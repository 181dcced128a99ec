/**
 * How projects of Docker's collection of samples (docker/awesome-compose) are put together: which services, ports, mounts, names and
 * secrets each has. Written down anew; nothing is copied but names.
 */
export type Shape = {
  name: string
  compose: string
  /** Files beside the compose file. */
  files?: readonly string[]
  env?: Record<string, string>
} & ({ route: `${string}:${number}` } | { refused: readonly string[] })

const contentOf = (path: string): string => {
  if (/(^|\/)Dockerfile/.test(path)) return 'FROM scratch\n'
  return path.endsWith('.env') ? 'A=1\n' : `${path}\n`
}

/** Path and text of everything that is sent. */
export const filesOf = ({ compose, files = [] }: Shape): Record<string, string> => ({
  'compose.yaml': compose,
  ...Object.fromEntries(files.map((path) => [path, contentOf(path)])),
})
