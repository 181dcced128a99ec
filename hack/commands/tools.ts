import { createProgress } from '../lib/progress.ts'
import { CommandRefusal, runCommand } from '../lib/refusal.ts'
import { ensureTools } from '../lib/tools.ts'
import { controlPlaneTools } from '../lib/tooltable.ts'

const usage = 'Usage: hack/tools path NAME | hack/tools build [NAME…]'

/** `path NAME` builds the tool if need be and prints its path alone on stdout; `build` takes several. */
async function main(): Promise<number> {
  const [command, ...names] = process.argv.slice(2)
  const progress = createProgress()
  if (command === 'path' && names.length === 1) {
    const [name = ''] = names
    console.log((await ensureTools([name], { progress })).path(name))
    return 0
  }
  if (command === 'build') {
    const wanted = names.length > 0 ? names : [...controlPlaneTools]
    const tools = await ensureTools(wanted, { progress })
    for (const name of wanted) console.log(tools.path(name))
    return 0
  }
  throw new CommandRefusal(usage, { exitCode: 2 })
}

await runCommand(main)
