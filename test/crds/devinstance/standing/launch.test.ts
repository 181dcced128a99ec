/** What a dev instance is launched from, and what those lack that were launched before (rules/devinstance.md#bootstrap). */
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { bootstrapOf } from '../../../../crds/devinstance/bootstrap/bootstrap.ts'
import { reserved } from '../../../../crds/devinstance/life/effects.ts'
import { rebuilt } from '../../../../crds/devinstance/life/rebuilt.ts'
import type { DevInstanceRow } from '../../../../crds/devinstance/life/row.ts'
import { PRICING_VERSION } from '../../../../crds/devinstance/sizing/prices.ts'
import { conditionsOf } from '../../../../crds/devinstance/standing/conditions.ts'
import { launchedFrom, PROGRAMS_VERSION } from '../../../../crds/devinstance/standing/launch.ts'
import { aDevInstance, after, BOOTSTRAP, CLEAN, PROFILE, T0 } from '../../../support/builders/devinstance.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** Of the programs of the present version, with nothing else in the user data. */
const PROGRAMS_SHA256 = '06f91a39b8d380224c118742688717fd34969c8f18ade8471ce5f657b3d308b1'

const REPO = { url: 'https://git.acme.test/other.git', ref: 'main' }
const toldOf = (instance: DevInstanceRow): string[] => {
  const world = { lastReport: null } as Parameters<typeof conditionsOf>[1]
  return conditionsOf(instance, world, new Date(T0)).flatMap(({ type, message }) =>
    type === 'ProgramsOutdated' ? [message] : [],
  )
}
const first = (): DevInstanceRow => {
  const { programs: _, ...row } = aDevInstance()
  return row
}

spec('what a dev instance is launched from', (t) => {
  t('follows its name and its repository until something is launched, and no longer', () => {
    const instance = aDevInstance()
    const { arch, agents } = instance
    const assign = { trigger: 'repo', said: { repo: REPO, profile: PROFILE } } as const
    const rename = { trigger: 'renamed', said: { version: 1, name: 'november' } } as const
    const made = bootstrapOf({ name: 'october', arch, agents, repo: REPO })
    const named = bootstrapOf({ name: 'november', arch, agents })
    assert.ok(made.ok && named.ok)
    assert.equal(launchedFrom(instance, assign), { sha256: made.sha256, programs: PROGRAMS_VERSION })
    assert.equal(launchedFrom(instance, rename), { sha256: named.sha256, programs: PROGRAMS_VERSION })
    assert.is(launchedFrom(instance, { trigger: 'stopped', said: { version: 1 } }), undefined)
    assert.is(launchedFrom(after(instance, 'provisioning'), assign), undefined)
  })

  t('is on the row made again of its facts as it was then, whatever is served today', () => {
    const reservation = {
      ...({ spec: { account: 'demo', sizeClass: 'S', arch: 'arm64', agents: [] }, fallbackName: 'dev-1' } as const),
      ...{ pricingVersion: PRICING_VERSION, bootstrapSha256: BOOTSTRAP, at: T0 },
    }
    const around = { ...CLEAN, launchedFrom: { sha256: 'e'.repeat(64), programs: 7 } }
    const facts = [
      {
        trigger: 'reserve',
        said: { ...reservation, spec: { ...reservation.spec, agents: [] } },
        at: T0,
        around: CLEAN,
      },
      { trigger: 'repo', said: { repo: REPO, profile: PROFILE }, at: T0, around },
    ] as Parameters<typeof rebuilt>[0]
    const row = rebuilt(facts)
    assert.equal([row?.bootstrapSha256, row?.programs, row?.repo], ['e'.repeat(64), 7, REPO])
    assert.is(reserved({ ...reservation, spec: { ...reservation.spec, agents: [] } }).programs, undefined)
  })
})

spec('a dev instance that was launched before its programs could what they can', (t) => {
  t('says what they cannot, and what to do, for as long as there is a machine', () => {
    const launched = after(first(), 'provisioning', 'token', 'finalize')
    const [told = '', ...more] = toldOf(launched)
    assert.equal(more, [])
    assert.match(
      told,
      /^i-0123456789abcdef0 has the programs of its launch, version 1, where new ones have version 4[.] /,
    )
    assert.match(told, /It cannot say that it stops, so that it counts and costs as running .*; nor attest again/)
    const second = toldOf({ ...launched, programs: 2 }).join()
    assert.match(
      second,
      /version 2, where new ones have version 4[.] It cannot attest again after a start.*; nor tell that it attests as before/,
    )
    assert.not.match(second, /say that it stops/)
    assert.match(
      toldOf({ ...launched, programs: 3 }).join(),
      /It cannot tell that it attests as before, so that nobody/,
    )
    assert.equal(toldOf({ ...launched, machine: 'gone' }), [])
    assert.equal(toldOf(first()), [], 'nothing is launched yet')
  })

  t('says nothing of programs that are the present ones', () => {
    assert.equal(toldOf(after(aDevInstance(), 'provisioning', 'token', 'finalize')), [])
  })

  t('is known by a version that whoever changes the programs has to think of', () => {
    const made = bootstrapOf({ name: 'x', arch: 'arm64', agents: [] })
    assert.ok(made.ok)
    // the text: how it is packed is the library's
    const text = made.contentType === 'application/gzip' ? gunzipSync(made.bytes) : made.bytes
    const sha256 = createHash('sha256').update(text).digest('hex')
    const why =
      'The programs have changed: where those on launched machines lack what an operator has to know of, raise PROGRAMS_VERSION and say it in LACKS; else only write the digest here.'
    assert.equal([PROGRAMS_VERSION, sha256], [4, PROGRAMS_SHA256], why)
  })
})
