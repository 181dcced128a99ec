import { judgeCompose } from '../../../../crds/app/compose/judge.ts'
import { planRelease, summariseRelease } from '../../../../crds/app/compose/printing/plan.ts'
import { printTrial } from '../../../../crds/app/compose/printing/trial.ts'
import type { Project } from '../../../../crds/app/compose/project.ts'
import {
  allowsDowntime,
  handOverSeconds,
  sayDowntime,
  stopping,
} from '../../../../crds/app/lifecycle/keeping/handover.ts'
import { shared, sourceOf } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const project = (text: string, more: Partial<typeof shared> = {}): Project => {
  const verdict = judgeCompose(sourceOf({ 'docker-compose.yml': text }), { ...shared, ...more })
  if (!verdict.ok) throw new Error(verdict.findings.map(({ detail }) => detail).join())
  return verdict.project
}
const shop = (db: string, web = 'one') => `services:
  web: { image: "acme/web:1", user: "1", expose: [8080], environment: { V: ${web} }, depends_on: { db: { condition: service_healthy }, migrate: { condition: service_completed_successfully } } }
  migrate: { image: "acme/web:1", user: "1", command: [migrate], depends_on: [db] }
  db: { image: "acme/db:${db}", user: "1", volumes: ["my_data:/data"], networks: { back: { aliases: [store] }, default: {} }, healthcheck: { test: [CMD, ok], interval: 20s, timeout: 5s } }
volumes: { my_data: {} }
networks: { back: { internal: true } }
`
const planOf = (before: Project | null, after: Project) =>
  planRelease(
    before && summariseRelease(before),
    { project: after, warnings: [], composePath: 'docker-compose.yml' },
    [],
  )

spec('what stops for a release', (t) => {
  const one = project(shop('1'))
  t('is nothing the first time, and nothing for what is started beside the old one', () => {
    assert.is(planOf(null, one).downtimeSeconds, 0)
    assert.is(planOf(one, project(shop('1', 'two'))).downtimeSeconds, 0)
  })
  t('is the service that keeps something, when it changes or goes, and is said with its seconds', () => {
    const plan = planOf(one, project(shop('2')))
    assert.equal(
      stopping(plan).map(({ name }) => name),
      ['db'],
    )
    assert.is(sayDowntime(plan), 'The release stops db for up to 35 s.')
    const without = project('services:\n  web: { image: "acme/web:1", user: "1", expose: [8080] }\n')
    assert.equal(
      stopping(planOf(one, without)).map(({ name, action }) => `${action} ${name}`),
      ['remove db'],
    )
  })
  t('is what the label of its disk changes, for which Compose makes its container anew', () => {
    const more = project(shop('1'), { budget: { ...shared.budget, diskGib: shared.budget.diskGib + 1 } })
    assert.equal(
      stopping(planOf(one, more)).map(({ name }) => name),
      ['db'],
    )
  })
  t('may do so when whoever asks has confirmed it, or the owner once for all', () => {
    assert.not(allowsDowntime({}, {}))
    assert.ok(allowsDowntime({}, { downtime: true }))
    assert.ok(allowsDowntime({ handOver: { downtime: 'allow' } }, {}))
    assert.not(allowsDowntime({ handOver: { downtime: 'confirm' } }, {}))
  })
  t('has ten seconds to answer, or what its health check takes, or what its owner says', () => {
    assert.is(handOverSeconds({}, one, ['web']), 10)
    assert.is(handOverSeconds({}, one, ['db']), 25)
    assert.is(handOverSeconds({ handOver: { seconds: 3 } }, one, ['db']), 3)
  })
})

spec('a release as it is tried', (t) => {
  const { document, volumes, service } = printTrial(project(shop('2')), 7, 'origin')
  const { services, networks, volumes: declared } = JSON.parse(document.text)
  t('is one project with all of its services, so that Compose itself holds each condition', () => {
    assert.equal([document.project, service, Object.keys(services)], ['shop-r7-try', 'web', ['db', 'migrate', 'web']])
    assert.is(services.web.depends_on.db.condition, 'service_healthy')
    assert.is(services.web.depends_on.migrate.condition, 'service_completed_successfully')
  })
  t('mounts copies, and is on no network that anything else is on', () => {
    assert.equal(volumes, [{ from: 'shop-base_my_data', to: 'shop-r7-try_my_data' }])
    assert.equal(declared, { my_data: { external: true, name: 'shop-r7-try_my_data' } })
    assert.not.match(document.text, /shop-base/)
    assert.equal(services.db.networks, { back: { aliases: ['store'] }, default: {} })
    assert.is(networks.back.external, undefined)
    assert.match(networks.back.driver_opts['com.docker.network.bridge.name'], /^bt-[0-9a-f]{12}$/)
  })
  t('is metered apart from the app, with the same limits', () => {
    assert.equal(services.db.labels['dev.bottega.app'], 'shop-r7')
    assert.is(services.db.mem_limit, services.db.memswap_limit)
    assert.equal(services.db.cap_drop, ['ALL'])
  })
})
