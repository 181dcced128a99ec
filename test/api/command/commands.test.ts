/** All commands: each is listed, each tells a refusal in the words of the refusal, and none waits by itself. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, conclude } from '../../../api/command/command.ts'
import type { Problem } from '../../../api/http/problem.ts'
import { commands } from '../../../api/wiring/commands.ts'
import type { Deps } from '../../../api/wiring/deps.ts'
import { DEVINSTANCE } from '../../../crds/devinstance/kind.ts'
import { KINDS } from '../../../crds/kinds.ts'
import { aDevInstance } from '../../support/builders/devinstance.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** What is told as it stands, and no refusal of it: what is gone, what is stored, what was found, how an operation ended. */
const NEVER_REFUSED: readonly string[] = [
  'account.change',
  'account.create',
  'app.apply',
  'app.backup',
  'app.cancel',
  'app.cancel-backup',
  'app.cancel-run',
  'app.delete',
  'app.env',
  'app.operate',
  'app.preview-delete',
  'app.restore',
  'app.run',
  'devinstance.change',
  'host.change',
  'host.create',
  'host.delete',
  'host.drain',
  'host.inspect',
  'invoice.delete',
  'invoice.rail',
  'site.delete',
]
/** A logo is refused in words of its own, whatever looked into it has said. */
const LOGO_REFUSAL = ['BAD_LOGO', 'The logo is taken.']

/** As `name: 'site.create'` of a record, or the first argument of what makes one. */
const DECLARED = new RegExp(
  `(?:name: |ing\\()'((?:${KINDS.map(({ singular }) => singular).join('|')})\\.[a-z-]+)'`,
  'g',
)

const sources = globSync('api/**/*.ts', { cwd: root }).map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}))

/** A goal and a row for whichever command. */
const GOAL = {
  uid: 'u-1',
  generation: 2,
  seq: 3,
  publish: true,
  digest: 'd',
  stoodThere: false,
  asked: {},
  reference: null,
  operation: 'op-1',
  run: 'op-1',
  backup: 'bak-1',
  key: 'k',
  id: 'one-1',
}
const row = {
  name: 'one-1',
  uid: 'u-1',
  observedGeneration: 2,
  view: {
    fact_seq: 3,
    factSeq: 3,
    box: null,
    created_from: null,
    live_digest: null,
    env: { stored_version: 1, applied_version: null },
    operations_ended: ['op-1'],
    runs_ended: ['op-1'],
    backups_ended: ['bak-1'],
    stalled: { code: 'SLUG_TAKEN', detail: 'It is taken.' },
  },
}
/** A dev instance is entered before it is called; only a reservation is refused by its row alone. */
const entered = { ...row, view: { ...row.view, id: 'one-1', box: aDevInstance(), policy: {} } }
/** Of a plan whose end is on record it is told as it ended, and nothing is written. */
const APPLIED = {
  outcome: {
    state: 'failed',
    code: 'DOMAIN_UNPROVEN',
    message: 'It is not proven.',
    steps: [],
    at: '2026-11-22T10:00:00Z',
  },
}
const refused = { seq: 3, state: 'refused', refusedCode: 'SLUG_TAKEN', outcome: { detail: 'It is taken' } }
const deps = {
  ledger: { observe: async () => ({ facts: [refused] }) },
  apps: { operation: async () => undefined },
  runs: { run: async () => null },
  publishing: { plan: async () => APPLIED },
  backups: { one: async () => null },
  sshKeys: { opening: async () => [] },
  devInstances: {
    verdict: async () => ({ state: 'refused', code: 'SLUG_TAKEN', detail: 'It is taken' }),
    tombstone: async () => ({ id: 'one-1', owner: 'demo', box: aDevInstance() }),
    lastReport: async () => null,
    history: async () => [],
  },
  now: () => new Date(0),
  issuers: { logoAsked: async () => ({ state: 'refused', reason: 'is taken' }) },
} as unknown as Deps
const asking = { caller: { account: 'demo', profile: {} } } as Parameters<Command['answer']>[1]

spec('the commands', (t) => {
  t('are listed wherever they are declared, each under a name of its own', () => {
    const declared = sources.flatMap(({ text }) => [...text.matchAll(DECLARED)].map(([, name]) => name))
    assert.ok(declared.length > 30)
    assert.equal(declared.toSorted(), [...commands.keys()].sort())
  })

  t('wait in one place', () => {
    const waiting = sources.filter(({ text }) => /waiter\.watch\(/.test(text)).map(({ path }) => path)
    const doors = ['api/command/look.ts', 'api/command/own.ts']
    assert.equal(waiting.sort(), doors.sort())
  })

  t('delete in one place, and pages are read in one', () => {
    const having = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
    // written.ts only counts what goes through it
    assert.equal(having(/kube\.delete\(/), ['api/command/resource.ts', 'api/command/written.ts'])
    assert.equal(having(/Number\((query\.)?(limit|offset)\b/), ['api/openapi/paging.ts'])
  })

  t('of a dev instance do what follows from their end when it is told, and not before', async () => {
    const done: unknown[] = []
    const dropEnv = async (name: string, key: string) => void done.push(['dropped', name, key])
    const stored = { ...deps, namespace: 'default', devInstances: { ...deps.devInstances, dropEnv } } as never
    const env = commands.get('devinstance.env') as Command<typeof GOAL, unknown, Deps>
    const refusal = await conclude(stored, env, { name: 'one-1', goal: GOAL, asking }, entered as never).catch(
      (error: unknown) => (error as Problem).code,
    )
    assert.equal([refusal, done.splice(0)], ['SLUG_TAKEN', [['dropped', 'one-1', 'k']]])
    const bury = commands.get('devinstance.delete') as Command<typeof GOAL, unknown, Deps>
    const accepted = { ...deps.devInstances, verdict: async () => ({ state: 'accepted', seq: 3 }) }
    const seen = { ...(stored as object), devInstances: accepted } as never
    await bury.answer(seen, asking, GOAL, entered as never)
    assert.equal(done, [], 'an answer changes nothing')
    assert.is((await conclude(seen, bury, { name: 'one-1', goal: GOAL, asking }, entered as never))?.status, 200)
    assert.equal(done, [], 'the resource is for the controllers to remove')
  })

  for (const [name, command] of commands) {
    t(`${name} is decided by a row that refuses it, in the words of the refusal`, async () => {
      const isCall = command.kind === DEVINSTANCE && name !== 'devinstance.reserve'
      const seen = (isCall ? entered : row) as never
      const isGoing = command.kind !== DEVINSTANCE && /[.-]delete$/.test(name)
      assert.is(command.judge({ ...GOAL, version: 1 }, seen), isGoing ? 'pending' : 'decided')
      const error = await command.answer(deps, asking, GOAL, seen).catch((thrown: unknown) => thrown)
      if (NEVER_REFUSED.includes(name)) return assert.not.ok(error instanceof Error, String(error))
      const expected = name === 'invoice.logo' ? LOGO_REFUSAL : ['SLUG_TAKEN', 'It is taken.']
      assert.equal([(error as Problem).code, (error as Problem).message], expected)
    })
  }
})
