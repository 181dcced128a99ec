import { assert, spec } from '../support/runner/spec.ts'
import { type Copy, copyTree, LINES, ownFiles } from '../support/widget/copy.ts'

/**
 * A further kind in the six steps of the README: what it needs is its own files, a line in each list, and what is generated.
 * It is added to a copy of the tree, whose own commands then check it and drive it.
 */

/** What `hack/generate` writes of it: its definition and its description, and what tells of all kinds. */
const GENERATED: readonly string[] = [
  'api/openapi/openapi-invoices.json',
  'api/openapi/openapi-widgets.json',
  'charts/bottega/templates/_rights.tpl',
  'charts/bottega/templates/platform.yaml',
  'crds/widget.yaml',
]
const LIMIT_MS = 600_000

spec('a further kind', (t) => {
  let copy: Copy
  t.before(() => {
    copy = copyTree()
    copy.add()
  })
  t.after(() => copy?.remove())
  const long = { timeoutMs: LIMIT_MS }

  t(
    'is generated, and touches no file but its own and the lists',
    async () => {
      await copy.run('hack/generate', [])
      const expected = [...ownFiles(), ...new Set(LINES.map(({ path }) => path)), ...GENERATED].sort()
      assert.equal(copy.changed(), expected)
    },
    long,
  )
  t('compiles', async () => void (await copy.run('node_modules/.bin/tsc', ['--noEmit'])), long)
  t(
    'stands in its rooms, tells, mails and is counted',
    async () => {
      const files = ['structure', 'crds/widget/widget', 'api/widget/widget'].map((name) => `test/${name}.test.ts`)
      assert.match(await copy.run('hack/test', files), /\d+ passed, 0 failed/)
    },
    long,
  )
})
