import { join } from 'node:path'
import { writeArchive } from '../../container/archive.ts'
import { type Entry, writeLayer } from '../../container/layer.ts'
import { pauseImage } from './place.ts'

const busybox = '/bin/busybox'
/** Nobody. */
const user = '65535:65535'

/** Writes the image that holds a pod's name space open: a static busybox that sleeps. Gives the archive's path. */
export async function writePauseImage(folder: string): Promise<string> {
  const entries: Entry[] = [{ type: 'file', path: 'bin/busybox', mode: 0o755, source: busybox }]
  const layers = [await writeLayer(entries, join(folder, 'pause-layer.tar'))]
  const file = join(folder, 'pause.tar')
  const config = { Entrypoint: [busybox, 'sleep', '2147483647'], User: user }
  await writeArchive({ layers, history: [{ created_by: 'busybox' }], config, name: pauseImage, file })
  return file
}
