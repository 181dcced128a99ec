import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { findOwned } from '../../hack/lib/processes.ts'
import { query } from '../../hack/platform/postgres.ts'
import { assert, spec } from '../support/runner/spec.ts'
import {
  ensurePlatform,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  ownControlPlane,
  ownPostgres,
  serviceKubeconfig,
} from '../support/stage/stage.ts'

spec('PostgreSQL of our own', (t) => {
  t('keeps what it committed when it is killed', async () => {
    const postgres = await ownPostgres()
    try {
      await query(postgres.url, 'create table kept (n int)')
      await query(postgres.url, 'insert into kept values (1)')
      await postgres.kill()
      assert.is(postgres.pid(), null)
      await postgres.start()
      assert.equal(await query(postgres.url, 'select n from kept'), [{ n: 1 }])
      assert.equal(await query(postgres.url, 'show fsync'), [{ fsync: 'on' }])
      assert.equal(await query(postgres.url, 'show synchronous_commit'), [{ synchronous_commit: 'on' }])
    } finally {
      await postgres.end()
    }
  })

  t('lets nobody in without the password', async () => {
    const { url, end } = await ownPostgres()
    try {
      const stranger = new URL(url)
      stranger.password = 'guessed'
      await assert.rejects(query(stranger.href, 'select 1'), /password authentication failed/)
    } finally {
      await end()
    }
  })

  t('a test gets a migrated, empty database, and several at once', async () => {
    const databases = await Promise.all([makeDatabase(), makeDatabase(), makeDatabase()])
    for (const { url } of databases) {
      const [row] = await query(url, 'select count(*)::int as applied from migrations')
      assert.ok(Number(row?.applied) > 0)
    }
    for (const database of databases) await database.drop()
  })
})

spec('the control plane', (t) => {
  t(
    'comes back with its data after both its processes were killed, and leaves nothing when stopped',
    async () => {
      const plane = await ownControlPlane()
      const kubectl = kubectlFor(plane.kubeconfig)
      await kubectl(['create', 'configmap', 'kept', '--from-literal=a=b'])
      await plane.processes.apiserver.kill()
      await plane.processes.etcd.kill()
      await plane.processes.etcd.start()
      await plane.processes.apiserver.start()
      assert.is(await kubectl(['get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}']), 'b')
      const { server } = JSON.parse(await kubectl(['config', 'view', '-o', 'json'])).clusters[0].cluster
      assert.is(server, plane.url)
      await plane.end()
      assert.not(existsSync(plane.kubeconfig))
      await assert.rejects(fetch(plane.url))
    },
    { timeoutMs: 90_000 },
  )

  t('a status is the operator’s alone, also against the cluster’s admin', async () => {
    await ensurePlatform()
    const { name, remove } = await makeNamespace()
    const account = {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'someone', namespace: name },
      spec: { email: 'a@b.test' },
    }
    await kubectlFor()(['create', '-f', '-'], account)
    // server-side apply is one PATCH; `kubectl patch` would first read the status, which is no right of the operator
    const write = ['apply', '--server-side', '--force-conflicts', '--subresource=status', '--validate=false', '-f', '-']
    const status = { ...account, spec: undefined, status: { phase: 'active' } }
    await assert.rejects(kubectlFor()(write, status), /FORBIDDEN: only/)
    await assert.rejects(
      kubectlFor(serviceKubeconfig('api'))(write, status),
      /cannot patch resource "accounts\/status"/,
    )
    await kubectlFor(serviceKubeconfig('controllers'))(write, status)
    await remove()
    assert.is(await kubectlFor()(['get', 'bottega', '-n', name, '-o', 'name']), '')
  })
})

spec('processes that somebody left behind', (t) => {
  t('are found by their owner’s mark, and only those', async () => {
    const owner = `test-mark-${process.pid}`
    const child = spawn('sleep', ['60'], {
      env: { ...process.env, BOTTEGA_OWNER: owner, BOTTEGA_PROCESS: 'sleeper' },
      stdio: 'ignore',
    })
    await sleep(100)
    assert.equal(
      findOwned(owner).map(({ pid, name }) => [pid, name]),
      [[child.pid, 'sleeper']],
    )
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    assert.equal(findOwned(owner), [])
  })
})
