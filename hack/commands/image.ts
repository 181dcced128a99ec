import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildImage, defaultName } from '../container/image.ts'
import { createProgress } from '../lib/progress.ts'
import { CommandRefusal, messageOf, runCommand } from '../lib/refusal.ts'
import { stateDir } from '../lib/state.ts'

const usage = 'Usage: hack/image [--name NAME:TAG] [--out FILE]'

/** Makes the image of Bottega and prints the path of its archive, for `docker load -i` or `ctr images import`. */
async function main(): Promise<number> {
  const { name, file } = readArguments()
  const step = createProgress().step(`image ${name}`)
  try {
    const image = await buildImage({ name, file })
    step.done(`${Math.round(image.bytes / 1024 ** 2)} MiB, sha256:${image.id}`)
    console.log(image.file)
    return 0
  } catch (error) {
    step.fail()
    throw error
  }
}

function readArguments(): { name: string; file: string } {
  try {
    const { values } = parseArgs({ options: { name: { type: 'string' }, out: { type: 'string' } } })
    const name = values.name ?? defaultName()
    if (!/^[a-z0-9][a-z0-9._/:-]*:[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(name)) throw new Error(`${name} is no NAME:TAG.`)
    const file = values.out === undefined ? join(stateDir, 'image', 'bottega.tar') : resolve(values.out)
    return { name, file }
  } catch (error) {
    throw new CommandRefusal(`${messageOf(error)}\n${usage}`, { exitCode: 2 })
  }
}

await runCommand(main)
