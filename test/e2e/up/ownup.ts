import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from '../../../hack/lib/files.ts'
import type { UpEnvironment } from '../../../hack/lib/state.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

const hack = join(import.meta.dirname, '..', '..', '..', 'hack')

/** A platform of one test's own, by the commands that people use. */
export type OwnUp = {
  stateDir: string
  /** The mark of its processes; known once it was up. */
  owner(): string
  /** Runs one of the commands on it. */
  command(name: string, ...args: string[]): Promise<{ code: number | null; output: string }>
  /** As it was written last. */
  environment(): UpEnvironment
  /** Takes it down with its data. */
  end(): Promise<void>
}

/** Starts nothing. */
export function makeOwnUp(): OwnUp {
  const folder = scratchFolder('up')
  const stateDir = join(folder, 'state')
  const command: OwnUp['command'] = (name, ...args) =>
    new Promise((resolve) => {
      const env = { ...process.env, BOTTEGA_STATE_DIR: stateDir }
      const child = spawn(join(hack, name), args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text) => {
          output += text
        })
      }
      child.once('close', (code) => resolve({ code, output }))
    })
  return {
    stateDir,
    owner: () => `up-${identityOf(stateDir)}`,
    command,
    environment: () => JSON.parse(readFileSync(join(stateDir, 'env.json'), 'utf8')),
    end: async () => {
      await command('down', '--purge')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
