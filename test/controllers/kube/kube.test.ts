import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlreadyExists, isConflict, isNotFound, KubeError } from '../../../controllers/base/errors.ts'
import { type Kube, makeKube, pathOf } from '../../../controllers/kube/kube.ts'
import { isNeverSent, type RequestInfo } from '../../../controllers/kube/transport.ts'
import { type FaultProxy, startFaultProxy, status } from '../../support/doubles/faultproxy.ts'
import { ensureWidgets, makeSpace, makeWidget, WIDGET, type Widget } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { sharedKubeconfig } from '../../support/stage/stage.ts'

const failure = async (work: Promise<unknown>): Promise<KubeError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.instance(error, KubeError)
  return error as KubeError
}

spec('kube', (t) => {
  let proxy: FaultProxy
  let kube: Kube
  let space: string
  const requests: RequestInfo[] = []
  const ref = (name: string) => ({ namespace: space, name })

  t.before(async () => {
    proxy = await startFaultProxy(sharedKubeconfig())
    kube = makeKube({
      kubeconfig: proxy.kubeconfig,
      fieldManager: 'bottega-controllers',
      onRequest: (i) => requests.push(i),
    })
    await ensureWidgets(kube)
    space = await makeSpace(kube)
  })
  t.after(async () => {
    await kube.close()
    await proxy.close()
  })

  t('fifty calls in a row use one connection, and hundreds at once a bounded number', async () => {
    await makeWidget(kube, space, 'pool')
    const before = proxy.connections()
    for (let n = 0; n < 50; n += 1) await kube.get(WIDGET, ref('pool'))
    assert.ok(proxy.connections() - before <= 1, `${proxy.connections() - before} connections`)
    await Promise.all(Array.from({ length: 300 }, () => kube.get(WIDGET, ref('pool'))))
    assert.ok(proxy.connections() - before <= 64, `${proxy.connections() - before} connections`)
  })

  t('credentials that are read anew keep the connections', async () => {
    const before = proxy.connections()
    const forgetful = makeKube({ kubeconfig: proxy.kubeconfig, authTtlMs: 0 })
    for (let n = 0; n < 10; n += 1) await forgetful.get(WIDGET, ref('pool'))
    // Two, for the next call may begin before the last one's connection is free again.
    assert.ok(proxy.connections() - before <= 2, `${proxy.connections() - before} connections`)
    await forgetful.close()
  })

  t('over TLS and with client certificates too', async () => {
    const direct = makeKube({ kubeconfig: sharedKubeconfig() })
    const found = await direct.get<Widget>(WIDGET, ref('pool'))
    assert.is(found.metadata.name, 'pool')
    await direct.close()
  })

  t('a write whose answer was lost is told of as such, though the later attempts were never sent', async () => {
    const { metadata } = await makeWidget(kube, space, 'doubt')
    const { resourceVersion } = metadata as { resourceVersion: string }
    const write = () => kube.patchSpec(WIDGET, ref('doubt'), { spec: { size: 3 } }, { resourceVersion })
    proxy.after(
      ({ method }) => method === 'PATCH',
      () => proxy.down(),
    )
    const lost = await failure(write())
    const never = await failure(write())
    await proxy.up()
    assert.equal([lost.status, isNeverSent(lost), isNeverSent(never)], [0, false, true], `${lost}; ${never}`)
    assert.is((await kube.get<Widget>(WIDGET, ref('doubt'))).spec.size, 3)
  })

  t('a patch merges, names its field manager, and leaves the rest alone', async () => {
    await makeWidget(kube, space, 'merge', { size: 1, colour: 'red' })
    await kube.patchSpec(WIDGET, ref('merge'), { spec: { size: 2 }, metadata: { annotations: { a: 'b' } } })
    await kube.patchStatus(WIDGET, ref('merge'), { made: 2 })
    const found = await kube.get<Widget & { metadata: { managedFields: { manager: string }[] } }>(WIDGET, ref('merge'))
    assert.equal(found.spec, { size: 2, colour: 'red' })
    assert.is(found.metadata.annotations?.a, 'b')
    assert.is(found.status?.made, 2)
    assert.equal([...new Set(found.metadata.managedFields.map((f) => f.manager))], ['bottega-controllers'])
  })

  t('a field that the schema does not know is refused', async () => {
    await makeWidget(kube, space, 'strict')
    // The API server says 422 to such a patch and 400 to such an object.
    assert.is((await failure(kube.patchSpec(WIDGET, ref('strict'), { spec: { sise: 3 } }))).status, 422)
    const created = await failure(makeWidget(kube, space, 'strict-2', { sise: 3 } as object))
    assert.is(created.status, 400)
  })

  t('an error tells status, reason and causes, and quotes nothing that was sent', async () => {
    const error = await failure(makeWidget(kube, space, 'quoted', { size: 12345 }))
    assert.is(error.status, 422)
    assert.is(error.reason, 'Invalid')
    assert.is(error.causes[0]?.field, 'spec.size')
    assert.not.match(error.message, '12345')
    assert.not.match(JSON.stringify(error), '12345')
    assert.match(error.detail, '99')
  })

  t('tells not found, already there and moved on apart', async () => {
    assert.ok(isNotFound(await failure(kube.get(WIDGET, ref('nobody')))))
    await makeWidget(kube, space, 'twice')
    const again = await failure(makeWidget(kube, space, 'twice'))
    assert.ok(isAlreadyExists(again))
    assert.not.ok(isConflict(again))
    const stale = await failure(kube.patchStatus(WIDGET, ref('twice'), { made: 1 }, { resourceVersion: '1' }))
    assert.ok(isConflict(stale))
    assert.not.ok(isAlreadyExists(stale))
  })

  t('a delete with the uid of another object removes nothing', async () => {
    const made = await makeWidget(kube, space, 'uid')
    assert.ok(isConflict(await failure(kube.delete(WIDGET, ref('uid'), { uid: 'another' }))))
    await kube.delete(WIDGET, ref('uid'), { uid: made.metadata.uid })
    assert.ok(isNotFound(await failure(kube.get(WIDGET, ref('uid')))))
  })

  t('reads and writes with a precondition survive a busy and a broken server', async () => {
    const made = await makeWidget(kube, space, 'retry')
    const isRetry = ({ path }: { path: string }) => path.includes('/retry')
    proxy.answer(isRetry, { ...status(429, 'TooManyRequests'), headers: { 'retry-after': '0' } })
    proxy.answer(isRetry, status(500, 'InternalError'))
    await kube.get(WIDGET, ref('retry'))
    proxy.answer(isRetry, status(503, 'ServiceUnavailable'))
    const { resourceVersion } = made.metadata
    const written = await kube.patchStatus<Widget>(WIDGET, ref('retry'), { made: 1 }, { resourceVersion })
    assert.is(written.status?.made, 1)
  })

  t('Retry-After is waited for', async () => {
    proxy.answer(({ path }) => path.endsWith('/pool'), { status: 429, headers: { 'retry-after': '1' } })
    const startedAt = performance.now()
    await kube.get(WIDGET, ref('pool'))
    assert.ok(performance.now() - startedAt >= 990)
  })

  t('a create is never sent twice', async () => {
    proxy.answer(({ method }) => method === 'POST', status(500, 'InternalError'))
    const before = proxy.writes().length
    assert.is((await failure(makeWidget(kube, space, 'once'))).status, 500)
    assert.is(proxy.writes().length - before, 1)
  })

  t('a call that hangs ends at its deadline', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as AddressInfo
    const file = join(tmpdir(), `bottega-silent-${process.pid}.json`)
    writeFileSync(file, kubeconfigOf(port))
    const hung = makeKube({ kubeconfig: file })
    const error = await failure(hung.get(WIDGET, ref('x'), { timeoutMs: 300 }))
    assert.is(error.reason, 'Timeout')
    await hung.close()
    silent.closeAllConnections()
    silent.close()
    rmSync(file)
  })

  t('a rotated token file is read again, at once when the old token is refused', async () => {
    const seen: (string | undefined)[] = []
    let valid = 'Bearer one'
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization)
      const ok = request.headers.authorization === valid
      response.writeHead(ok ? 200 : 401, { 'content-type': 'application/json' })
      response.end(ok ? '{"metadata":{"name":"x"}}' : status(401, 'Unauthorized').body)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const token = join(tmpdir(), `bottega-token-${process.pid}`)
    const file = `${token}.json`
    writeFileSync(token, 'one')
    const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile: token } } }
    writeFileSync(file, kubeconfigOf((server.address() as AddressInfo).port, user))
    const rotating = makeKube({ kubeconfig: file })
    await rotating.get(WIDGET, ref('x'))
    writeFileSync(token, 'two')
    valid = 'Bearer two'
    await rotating.get(WIDGET, ref('x'))
    assert.equal(seen, ['Bearer one', 'Bearer one', 'Bearer two'])
    await rotating.close()
    server.closeAllConnections()
    server.close()
    rmSync(token)
    rmSync(file)
  })

  t('every request is counted, and a hook stands before and after every call', async () => {
    const last = requests.at(-1)
    assert.ok(requests.some(({ code, method }) => code === '422' && method === 'POST'))
    assert.match(last?.host ?? '', /^127\.0\.0\.1:\d+$/)
    const order: string[] = []
    const hooked = makeKube({
      kubeconfig: proxy.kubeconfig,
      around: async (call, run) => {
        order.push(`before ${call.verb} ${call.path}`)
        const result = await run()
        order.push(`after ${call.verb}`)
        return result
      },
    })
    await hooked.get(WIDGET, ref('pool'))
    assert.equal(order, [`before get ${pathOf(WIDGET, space, 'pool')}`, 'after get'])
    await hooked.close()
  })
})

const kubeconfigOf = (port: number, user: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  })
