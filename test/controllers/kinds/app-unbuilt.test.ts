import { makeReleases } from '../../../controllers/kinds/app/release.ts'
import { judgeCompose } from '../../../crds/app/compose/judge.ts'
import { anApp, aRelease, aWorld } from '../../support/builders/app/app.ts'
import { sourceOf } from '../../support/builders/sources/upload.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A release on a host that remaps no users, with the judge as it is and an upload out of hand. */
const judged = (service: string, { pinned = false, remapsUsers = false } = {}) => {
  const index = sourceOf({ Dockerfile: 'FROM scratch\n', 'docker-compose.yml': `services: { web: ${service} }\n` })
  const never = () => Promise.reject(new Error('nothing is asked for'))
  const releases = makeReleases({
    composeJudge: { judge: async (source, target) => judgeCompose(source, target) },
    store: { env: never, source: never },
    vault: { seal: never as never, has: never, open: never, indexOf: async () => index },
    registries: { open: never },
    blobs: {} as never,
  })
  const { host } = aWorld()
  assert.ok(host)
  return releases.judge({
    app: 'app-1',
    spec: anApp().spec,
    host: { ...host, remapsUsers },
    release: aRelease(1, { envVersion: null }),
    pinned: pinned ? [] : null,
    live: undefined,
    confirmed: [],
    mayStop: true,
    budget: { cpuMillis: 1_000, memoryMib: 1_024, diskGib: 10 },
    replicas: 1,
  })
}

spec('a release on a host whose users are those of its containers', (t) => {
  const built = '{ build: ., expose: [80] }'

  t('is not built, and says what to do', async () => {
    const verdict = await judged(built)
    assert.is(verdict.ok, false)
    if (verdict.ok) return
    assert.is(verdict.code, 'HOST_NOT_ISOLATED')
    assert.match(verdict.detail, /^local cannot keep builds apart: .*userns-remap/)
  })
  t('runs what is built elsewhere, and what was built before', async () => {
    assert.is((await judged('{ image: "nginx:1.27", expose: [80] }')).ok, true)
    assert.is((await judged(built, { pinned: true })).ok, true)
    assert.is((await judged(built, { remapsUsers: true })).ok, true)
  })
})
