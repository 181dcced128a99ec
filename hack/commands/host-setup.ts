import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readHostSetup } from '../hostsetup/arguments.ts'
import { hostSetupScript } from '../hostsetup/script.ts'
import { CommandRefusal, codeOf, runCommand } from '../lib/refusal.ts'

const readKey = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandRefusal(
      `${path} cannot be read (${codeOf(error)}); ssh-keygen -t ed25519 -f FILE makes FILE.pub.`,
      {
        exitCode: 2,
      },
    )
  }
}

/** ssh's own exit code for a machine that it does not reach. */
const UNREACHED = 255

/** Prepares a machine as a host, over the ssh of whoever runs this: its keys, its known hosts, its configuration. */
async function main(): Promise<number> {
  const asked = readHostSetup(process.argv.slice(2), readKey)
  const script = hostSetupScript()
  if (asked.do === 'print') {
    process.stdout.write(script)
    return 0
  }
  const { status, error } = spawnSync('ssh', asked.ssh, { input: script, stdio: ['pipe', 'inherit', 'inherit'] })
  if (error) throw new CommandRefusal(`ssh is needed, and ${codeOf(error) || 'failed'}: install openssh-client.`)
  if (status === UNREACHED)
    throw new CommandRefusal('ssh did not get through (see above): log in once by hand, then run this again.')
  return status ?? 1
}

await runCommand(main)
