import { mayUseHost } from '../../../crds/kernel/fields.ts'
import { assert, spec } from '../../support/runner/spec.ts'

spec('a host', (t) => {
  const ROWS: [string, string | null, boolean, boolean][] = [
    ['shared', null, true, true],
    ['platform', null, true, true],
    ['isolated', null, false, false],
    ['owned', null, false, false],
    ['shared', 'demo', true, false],
    ['isolated', 'demo', true, false],
    ['owned', 'demo', true, false],
  ]
  for (const [kind, account, own, others] of ROWS) {
    t(
      `of class ${kind} ${account === null ? 'without an account' : 'of an account'} is for ${own ? (others ? 'all' : 'its own') : 'nobody'}`,
      () => {
        const host = { account, class: kind }
        assert.equal([mayUseHost(host, 'demo'), mayUseHost(host, 'other')], [own, others])
      },
    )
  }
})
