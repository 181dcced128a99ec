import { createHash } from 'node:crypto'
import { globSync, lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Written by a machine that only runs: logs, what is under way, what Docker and Caddy keep. */
const BY_ITSELF =
  /^\/(tmp|run|\.before|var\/(log|tmp|lib\/(docker|containerd|systemd|private|caddy\/\.(config|local))))(\/|$)|^\/var\/cache\/ldconfig\//

const contentOf = (path: string): string => {
  const entry = lstatSync(path)
  if (entry.isSymbolicLink()) return readlinkSync(path)
  return entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'neither file nor link'
}

/** Mode, owner and content by path, of all files of the upper folder of an overlay: what is there no more is a device in it. */
export const changesIn = (upper: string): Map<string, string> => {
  const found = new Map<string, string>()
  for (const name of globSync('**', { cwd: upper })) {
    const path = join(upper, name)
    const entry = lstatSync(path)
    if (entry.isDirectory() || BY_ITSELF.test(`/${name}`)) continue
    found.set(`/${name}`, `${entry.mode.toString(8)} ${entry.uid}:${entry.gid} ${contentOf(path)}`)
  }
  return found
}
