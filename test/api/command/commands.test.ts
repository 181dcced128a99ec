/** All commands: each is listed, each tells a refusal in the words of the refusal, and none waits by itself. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../../../api/command/command.ts'
import type { Problem } from '../../../api/http/problem.ts'
import { commands } from '../../../api/wiring/commands.ts'
import type { Deps } from '../../../api/wiring/deps.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** What is told as it stands, and no refusal of it: what is gone, what is stored, how an operation ended. */
const NEVER_REFUSED = ['app.cancel', 'app.delete', 'app.env', 'app.operate', 'site.delete']

const sources = globSync('api/**/*.ts', { cwd: root }).map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}))

/** A goal and a row for whichever command. */
const GOAL = { uid: 'u-1', generation: 2, seq: 3, publish: true, digest: 'd', stoodThere: false, operation: 'op-1' }
const row = {
  name: 'one-1',
  uid: 'u-1',
  observedGeneration: 2,
  view: {
    fact_seq: 3,
    live_digest: null,
    env: { stored_version: 1, applied_version: null },
    operations_ended: ['op-1'],
    stalled: { code: 'SLUG_TAKEN', detail: 'It is taken.' },
  },
} as never
const refused = { seq: 3, state: 'refused', refusedCode: 'SLUG_TAKEN', outcome: { detail: 'It is taken' } }
const deps = {
  ledger: { observe: async () => ({ facts: [refused] }) },
  apps: { operation: async () => undefined },
} as unknown as Deps
const asking = { caller: {} } as Parameters<Command['answer']>[1]

spec('the commands', (t) => {
  t('are listed wherever they are declared, each under a name of its own', () => {
    const declared = sources.flatMap(({ text }) =>
      [...text.matchAll(/(?:: Command<[^\n]*> = |factCommand\()\{\n\s+name: '([^']+)'/g)].map(([, name]) => name),
    )
    assert.ok(declared.length > 10)
    assert.equal(declared.toSorted(), [...commands.keys()].sort())
  })

  t('wait in one place', () => {
    const waiting = sources.filter(({ text }) => /waiter\.watch\(/.test(text)).map(({ path }) => path)
    const doors = ['api/command/look.ts', 'api/command/own.ts']
    assert.equal(waiting.sort(), doors.sort())
  })

  for (const [name, command] of commands) {
    t(`${name} is decided by a row that refuses it, in the words of the refusal`, async () => {
      assert.is(command.judge({ ...GOAL, version: 1 }, row), name.endsWith('.delete') ? 'pending' : 'decided')
      const error = await command.answer(deps, asking, GOAL, row).catch((thrown: unknown) => thrown)
      if (NEVER_REFUSED.includes(name)) assert.not.ok(error instanceof Error, String(error))
      else assert.equal([(error as Problem).code, (error as Problem).message], ['SLUG_TAKEN', 'It is taken.'])
    })
  }
})
