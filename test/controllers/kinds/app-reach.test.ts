import type { Hosts } from '../../../controllers/io/hosts/link.ts'
import { makeReachLooks } from '../../../controllers/kinds/app/health/reach.ts'
import type { ReachSeen } from '../../../crds/app/lifecycle/publishing/naming.ts'
import type { AppSpec } from '../../../crds/app/schema.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** What visitors get is known to the plan, and whoever mends an app that answers nobody is not held up by asking. */

const SPEC = { hostId: 'local', access: 'public', applicationPolicy: 'none' } as AppSpec
const NAME = 'shop.example.test'

spec('the look at what visitors get', (t) => {
  let clockMs = Date.parse('2026-03-01T10:00:00Z')
  let asked = 0
  let answer: Promise<{ status: number | null; detail: string | null }>
  const hosts = {
    certificatesOf: async () => [{ hostname: NAME, state: 'valid', notAfter: '2026-06-01T00:00:00Z' }],
    visit: () => {
      asked += 1
      return answer
    },
  } as unknown as Hosts
  const looks = () => makeReachLooks({ hosts, now: () => new Date(clockMs) })
  const statusOf = ({ names }: ReachSeen) => names.map(({ certificate, status }) => [certificate, status])

  t('is taken once for all who ask meanwhile, and holds for a while', async () => {
    answer = Promise.resolve({ status: 200, detail: null })
    const at = looks()
    const before = asked
    const both = await Promise.all([at.at('app', SPEC, [NAME]), at.at('app', SPEC, [NAME])])
    assert.equal(both.map(statusOf), [[['valid', 200]], [['valid', 200]]])
    await at.at('app', SPEC, [NAME])
    assert.is(asked, before + 1)
    clockMs += 10_000
    await at.at('app', SPEC, [NAME])
    assert.is(asked, before + 2)
  })

  t('holds nobody up while an app answers nobody: not seen yet, then what was seen last, then what came', async () => {
    const first = Promise.withResolvers<{ status: number | null; detail: string | null }>()
    answer = first.promise
    const at = looks()
    assert.equal(statusOf(await at.at('app', SPEC, [NAME])), [[null, null]])
    first.resolve({ status: 200, detail: null })
    await first.promise
    assert.equal(statusOf(await at.at('app', SPEC, [NAME])), [['valid', 200]])
    const second = Promise.withResolvers<{ status: number | null; detail: string | null }>()
    answer = second.promise
    clockMs += 10_000
    const before = asked
    assert.equal(statusOf(await at.at('app', SPEC, [NAME])), [['valid', 200]])
    assert.equal(statusOf(await at.at('app', SPEC, [NAME])), [['valid', 200]])
    assert.is(asked, before + 1, 'and it is asked once')
    second.resolve({ status: null, detail: 'nobody answered' })
    await second.promise
    assert.equal(statusOf(await at.at('app', SPEC, [NAME])), [['valid', null]])
  })

  t('that failed is told to who waits for it, and taken anew', async () => {
    answer = Promise.reject(new Error('no way there'))
    const at = looks()
    await assert.rejects(() => at.at('app', SPEC, [NAME]), /no way there/)
    answer = Promise.resolve({ status: 204, detail: null })
    assert.equal(statusOf(await at.at('app', SPEC, [NAME])), [['valid', 204]])
  })
})
