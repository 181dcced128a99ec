/** The chart on a real node: installed, used, upgraded, shaken, and gone without a trace. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { mintToken } from '../../api/auth/tokens.ts'
import { waitFor } from '../../hack/lib/processes.ts'
import { createProgress } from '../../hack/lib/progress.ts'
import { CommandRefusal } from '../../hack/lib/refusal.ts'
import { asList } from '../../hack/platform/kubectl.ts'
import { type ClusterStage, startClusterStage } from '../../hack/stage/clusterstage.ts'
import { chartFolder } from '../../hack/stage/helm.ts'
import { startNode } from '../../hack/stage/node/node.ts'
import { hasClusterToken, type Pod, podsWith, reachScript, secretsOf } from '../support/cluster/pods.ts'
import { type EgressRule, enforceEgress } from '../support/cluster/policies.ts'
import { MACHINES_CIDR, type ReachableCloud, startReachableCloud } from '../support/devbox/reachable.ts'
import { takeInventory } from '../support/doubles/inventory.ts'
import { ACCESS_KEY } from '../support/ec2/standin.ts'
import { callsOf } from '../support/runner/calls.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { difference, type Look, lookAtMachine } from '../support/stage/machine.ts'

const minuteMs = 60_000
/** Programs may have to be built before. */
const startMs = 25 * minuteMs
const namespace = 'shop'
const cloudSecret = 'bottega-cloud'
const owner = process.env.BOTTEGA_OWNER ?? `test-${process.pid}`

spec('a Kubernetes node', (t) => {
  t(
    'that was killed with its pods running is cleared away without a trace',
    async () => {
      const before = lookAtMachine()
      const node = await startNode({ owner, progress: createProgress() })
      try {
        const pod = { containers: [{ name: 'one', image: 'local/pause:1' }], volumes: [{ name: 'a', emptyDir: {} }] }
        const metadata = { name: 'left-running' }
        await node.kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'Pod', metadata, spec: pod })
        await node.kubectl(['wait', '--for=condition=Ready', 'pod/left-running', '--timeout=60s'])
        assert.ok(difference(before, lookAtMachine()).length > 10)
        await node.kill()
      } finally {
        await node.stop()
      }
      assert.equal(difference(before, lookAtMachine()), [])
    },
    { timeoutMs: startMs },
  )
})

type Invoice = { number: string | null; invoice: { id: string; number: string | null; status: string } }
type Answer = { status: number; body: Invoice }
type Box = { id: string; state: string; instanceId: string }

spec('the chart on a node', (t) => {
  let machine: Look
  let stage: ClusterStage
  let objects: string[]
  let token: string
  let boxer: string
  let baseUrl: string
  let sent = 0
  let cloud: ReachableCloud
  let lift: (() => void) | null = null

  const kubectl = (...args: string[]) => stage.node.kubectl([...args, '-n', namespace])
  const apply = (...manifests: object[]) => stage.node.kubectl(['apply', '-n', namespace, '-f', '-'], asList(manifests))
  const release = (command: string, ...args: string[]) =>
    stage.helm([command, 'one', chartFolder, '-n', namespace, '-f', stage.values, '--wait', '--timeout=300s', ...args])

  /** A new connection each time: a client that comes for the first time, to whichever pod is offered. */
  const send = async (reference: string): Promise<Answer> => {
    const response = await fetch(`${baseUrl}/api/invoices`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({
        external_ref: reference,
        send: true,
        client_name: 'ACME',
        client_email: 'billing@acme.test',
        items: [{ description: 'October retainer', qty: 1.5, unit_cents: 80_000 }],
      }),
      signal: AbortSignal.timeout(minuteMs),
    })
    return { status: response.status, body: (await response.json()) as Invoice }
  }
  /** As a client does it: what was taken and not done within the bound of waiting (202) is asked for again by its reference. */
  const sendThrough = async (reference: string): Promise<Answer> => {
    const untilMs = performance.now() + minuteMs
    const answer = await send(reference)
    if (answer.status !== 202) return answer
    for (;;) {
      const { status, body } = await send(reference)
      if (status === 200 && body.number !== null) return { status: 201, body }
      assert.ok([200, 202].includes(status), `asked again for ${reference}: ${status}`)
      assert.ok(performance.now() < untilMs, `${reference} was taken, and never done`)
      await sleep(200)
    }
  }
  const numberOf = (count: number) =>
    `INV-${String(new Date().getUTCFullYear() % 1000).padStart(3, '0')}-${String(count).padStart(4, '0')}`
  const mails = () => readdirSync(stage.mailDir).filter((name) => name.endsWith('.eml'))
  const podsOf = async (component: string) =>
    (await kubectl('get', 'pods', '-l', `app.kubernetes.io/component=${component}`, '-o', 'name'))
      .trim()
      .split('\n')
      .sort()
  /** The pod; what follows its name tells one process from another (kube/identity.ts). */
  const leader = async () =>
    (await kubectl('get', 'lease', 'bottega-controllers', '-o', 'jsonpath={.spec.holderIdentity}')).split('_')[0] ?? ''

  t.before(
    async () => {
      machine = lookAtMachine()
      const publicUrl = `http://bottega-api.${namespace}.svc.cluster.local`
      stage = await startClusterStage({ owner, progress: createProgress(), publicUrl, ...callsOf('chart') })
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
      await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } })
      await kubectl('wait', '--for=create', 'serviceaccount/default', 'configmap/kube-root-ca.crt', '--timeout=30s')
      objects = await takeInventory(stage.node.kubectl)
    },
    { timeoutMs: startMs },
  )
  t.after(
    async () => {
      lift?.()
      await cloud?.end()
      await stage?.end()
    },
    { timeoutMs: 3 * minuteMs },
  )

  t(
    'installs with --wait, in a namespace that admits restricted pods only',
    async () => {
      const startedMs = performance.now()
      await release('install')
      console.log(`\ncounted: helm install --wait took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
      assert.is((await podsOf('api')).length, 2)
      assert.is((await podsOf('controllers')).length, 2)
      baseUrl = `http://${await kubectl('get', 'service', 'bottega-api', '-o', 'jsonpath={.spec.clusterIP}')}`
    },
    { timeoutMs: 6 * minuteMs },
  )

  t('takes its hooks away once they have succeeded', async () => {
    assert.is(await kubectl('get', 'jobs', '-o', 'name'), '')
    const everywhere = await takeInventory(stage.node.kubectl)
    assert.equal(
      everywhere.filter((name) => name.endsWith('/bottega-setup')),
      [],
    )
  })

  t('numbers an invoice through the Service, mails it, and shows the number to kubectl', async () => {
    const account = { email: 'owner@demo.test', name: 'Demo', plan: 'team' }
    const metadata = { name: 'demo' }
    await apply({ apiVersion: 'bottega.dev/v1alpha1', kind: 'Account', metadata, spec: account })
    await kubectl('wait', '--for=condition=Ready', 'account.bottega.dev/demo', '--timeout=20s')
    token = await mintToken(stage.databaseUrl, { account: 'demo', name: 'test', key: stage.secretKey })
    const { status, body } = await sendThrough('first')
    sent += 1
    assert.equal([status, body.number], [201, numberOf(1)])
    assert.match(await kubectl('get', 'inv', body.invoice.id), new RegExp(`${numberOf(1)} +sent`))
    await waitFor('the mail', async () => mails().length === 1, { timeoutMs: minuteMs })
    assert.match(readFileSync(join(stage.mailDir, mails()[0] ?? ''), 'utf8'), numberOf(1))
  })

  t('answers the same reference with the same number, and sends no second mail', async () => {
    const { status, body } = await send('first')
    assert.equal([status, body.number], [200, numberOf(1)])
    assert.is(mails().length, 1)
  })

  t('keeps a status for the controllers of this namespace, also from administrators', async () => {
    const forged = ['--subresource=status', '--type=merge', '-p', '{"status":{"phase":"ready"}}']
    const error = await assert.rejects(kubectl('patch', 'account.bottega.dev', 'demo', ...forged))
    const told = error instanceof CommandRefusal ? error.detail : ''
    assert.match(told, `only system:serviceaccount:${namespace}:bottega-controllers may write the status`)
  })

  t(
    'passes helm test, which sends a test invoice when it is given a token',
    async () => {
      await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'smoke' }, stringData: { token } })
      await release('upgrade', '--set', 'test.tokenSecret=smoke')
      const told = await stage.helm(['test', 'one', '-n', namespace, '--logs', '--timeout=120s'])
      for (const line of [
        'ok all 4 processes are ready',
        'ok the API describes itself',
        'ok the API refuses a stranger',
        'ok a test invoice is numbered',
      ])
        assert.match(told, line)
      await kubectl('delete', 'secret', 'smoke')
    },
    { timeoutMs: 6 * minuteMs },
  )

  const podsAre = (component: string) =>
    podsWith(stage.node.kubectl, namespace, `app.kubernetes.io/component=${component}`)
  const provisioner = async (): Promise<Pod> => {
    const [pod, ...more] = await podsAre('provisioner')
    assert.ok(pod && more.length === 0, 'there is one provisioner')
    return pod
  }
  const figures = async (): Promise<string> => {
    const { status } = await provisioner()
    const response = await fetch(`http://${status.podIP}:9090/metrics`).catch(() => null)
    return (await response?.text()) ?? ''
  }
  const rounds = async (): Promise<number> =>
    Number(/rounds_total\{outcome="well"\} (\d+)/.exec(await figures())?.[1] ?? Number.NaN)
  const comes = (what: string, isSo: () => Promise<boolean>) =>
    waitFor(what, isSo, { timeoutMs: 3 * minuteMs, everyMs: 500 }).catch(async (error) => {
      throw new Error(`${error.message}: ${await kubectl('logs', 'deployment/bottega-provisioner', '--tail=40')}`)
    })
  const box = async (method: string, path: string, body?: object): Promise<Box> => {
    const response = await fetch(`${baseUrl}/api/devboxes${path}`, {
      method,
      headers: { authorization: `Bearer ${boxer}`, 'content-type': 'application/json', connection: 'close' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(minuteMs),
    })
    const answer = (await response.json()) as { devbox: Box }
    assert.ok(response.ok, JSON.stringify(answer))
    return answer.devbox
  }
  const isRunning = (id: string) => async () => (await box('GET', `/${id}`)).state === 'running'

  t(
    'runs the provisioner beside them, ready once registry and cloud have answered',
    async () => {
      const account = (name: string, more: object) => {
        const spec = { email: `${name}@demo.test`, name, plan: 'team', capabilities: ['devbox.manage'], ...more }
        return { apiVersion: 'bottega.dev/v1alpha1', kind: 'Account', metadata: { name }, spec }
      }
      await apply(account('boxer', {}), account('root', { role: 'admin' }))
      await kubectl(
        'wait',
        '--for=condition=Ready',
        'account.bottega.dev/boxer',
        'account.bottega.dev/root',
        '--timeout=60s',
      )
      const mint = (name: string) => mintToken(stage.databaseUrl, { account: name, name: 'test', key: stage.secretKey })
      boxer = await mint('boxer')
      cloud = await startReachableCloud(stage.node.address)
      const stringData = {
        token: await mint('root'),
        'aws-access-key-id': ACCESS_KEY,
        'aws-secret-access-key': 'of the stand-in',
        'ssh-key': cloud.identity,
      }
      await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: cloudSecret }, stringData })
      const endpoint = new URL(cloud.ec2.url)
      const given = {
        provisioner: {
          ...{ enabled: true, existingSecret: cloudSecret, installation: 'shop', every: '2s' },
          ec2: {
            ...{ region: 'us-east-1', subnet: 'subnet-1', securityGroups: ['sg-1'], keyName: 'operator' },
            images: { arm64: 'ami-0aaaaaaaaaaaaaaa1', x86_64: 'ami-0bbbbbbbbbbbbbbb2' },
            endpoint: endpoint.origin,
          },
        },
        networkPolicy: {
          provisioner: [
            { ports: [{ port: Number(endpoint.port) }], to: [{ ipBlock: { cidr: `${endpoint.hostname}/32` } }] },
            { ports: [{ port: 22 }], to: [{ ipBlock: { cidr: MACHINES_CIDR } }] },
          ],
        },
      }
      const values = join(dirname(stage.values), 'provisioner.json')
      writeFileSync(values, JSON.stringify(given))
      const others = [...(await podsOf('api')), ...(await podsOf('controllers'))]
      await release('upgrade', '-f', values)
      const { status } = await provisioner()
      const readiness = await fetch(`http://${status.podIP}:9090/readyz`)
      assert.equal([readiness.status, await readiness.text()], [200, 'ok registry\nok cloud\nok rounds\n'])
      assert.equal([...(await podsOf('api')), ...(await podsOf('controllers'))], others)
    },
    { timeoutMs: 6 * minuteMs },
  )

  t('gives what opens the cloud to the pod of the provisioner, and lets no other pod read it', async () => {
    const as = (name: string) => ['--as', `system:serviceaccount:${namespace}:bottega-${name}`]
    const may = (verb: string, what: string, ...who: string[]) =>
      kubectl('auth', 'can-i', verb, what, ...who).then(
        (answer) => answer.trim(),
        () => 'no',
      )
    const asked = [
      may('get', `secret/${cloudSecret}`),
      may('get', 'devinstances', ...as('api')),
      ...['api', 'controllers', 'provisioner'].flatMap((name) => [
        may('get', `secret/${cloudSecret}`, ...as(name)),
        may('list', 'secrets', ...as(name)),
      ]),
      may('get', 'devinstances', ...as('provisioner')),
    ]
    assert.equal(await Promise.all(asked), ['yes', 'yes', ...Array.from({ length: 7 }, () => 'no')])
    const others = [...(await podsAre('api')), ...(await podsAre('controllers'))]
    assert.is(others.length, 4)
    for (const pod of others) assert.not.match(JSON.stringify(pod.spec), new RegExp(`${cloudSecret}|AWS_`))
    const pod = await provisioner()
    assert.equal([secretsOf(pod), hasClusterToken(pod)], [[cloudSecret], false])
  })

  t(
    'keeps it to what its policy lets through, and that is enough for it',
    async () => {
      const { metadata, status } = await provisioner()
      const policy = JSON.parse(await kubectl('get', 'networkpolicy', 'bottega-provisioner', '-o', 'json'))
      lift = await enforceEgress({
        podIp: status.podIP,
        egress: policy.spec.egress as EgressRule[],
        podsWith: async (labels) => {
          const selector = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
          const pods = await podsWith(stage.node.kubectl, namespace, selector.join(','))
          return pods.map(({ status }) => status.podIP)
        },
        portNamed: (name) => (name === 'http' ? 8080 : 9090),
      })
      const database = new URL(stage.databaseUrl)
      const named = ['get', 'service', 'kubernetes', '-n', 'default', '-o', 'jsonpath={.spec.clusterIP}']
      const service = await stage.node.kubectl(named)
      const [controllers] = await podsAre('controllers')
      const places = {
        api: `bottega-api.${namespace}.svc:80`,
        cloud: new URL(cloud.ec2.url).host,
        database: `${stage.node.address}:${database.port}`,
        'the API server': `${service}:443`,
        'metadata of a node': '169.254.169.254:80',
        controllers: `${controllers?.status.podIP}:9090`,
        'a machine, by another port': '198.51.100.1:80',
      }
      const program = ['/usr/local/bin/node', '-e', reachScript(places)]
      const reached = await stage.node.kubectl(['exec', '-n', namespace, metadata.name, '--', ...program])
      assert.equal(JSON.parse(reached), ['api', 'cloud'])
      const before = await rounds()
      await comes('two rounds more', async () => (await rounds()) >= before + 2)
    },
    { timeoutMs: 4 * minuteMs },
  )

  t(
    'has a dev instance brought from its reservation to running, and told in figures',
    async () => {
      const { id } = await box('POST', '', { name: 'october', sizeClass: 'XS', arch: 'x86_64', agents: [] })
      await comes('october to run', isRunning(id))
      const { instanceId } = await box('GET', `/${id}`)
      assert.equal([...cloud.ec2.region.machines.keys()], [instanceId])
      assert.match(cloud.machines.tokens.get(instanceId) ?? '', /^dbr_/)
      await comes('the figure', async () => /instances\{state="done"\} 1\n/.test(await figures()))
      assert.match(await figures(), /steps_total\{step="launch"\} 1\n/)
      lift?.()
    },
    { timeoutMs: 5 * minuteMs },
  )

  t(
    'loses the provisioner amid a launch, and has one machine all the same',
    async () => {
      const { ec2 } = cloud
      const { name } = (await provisioner()).metadata
      ec2.faults.push({ action: 'RunInstances', does: 'lostAfter' })
      const { id } = await box('POST', '', { name: 'november', sizeClass: 'XS', arch: 'x86_64', agents: [] })
      await comes('the launch', async () => ec2.region.machines.size === 2)
      await kubectl('delete', 'pod', name, '--grace-period=0', '--force')
      await comes('november to run', isRunning(id))
      assert.is.not((await provisioner()).metadata.name, name)
      const { machines, addresses } = ec2.region
      const own = [...machines.values()].filter(({ tags }) => tags.get('bottega:devbox') === id)
      assert.equal([own.length, machines.size, addresses.size], [1, 2, 2])
    },
    { timeoutMs: 5 * minuteMs },
  )

  t(
    'ends the provisioner within its grace period, though the cloud keeps it waiting',
    async () => {
      const [{ ec2 }, { name }] = [cloud, (await provisioner()).metadata]
      // kept after its end, to tell how it ended
      const keep = (finalizers: string[] | null) =>
        kubectl('patch', 'pod', name, '--type=merge', '-p', JSON.stringify({ metadata: { finalizers } }))
      await keep(['bottega.dev/looked-at'])
      ec2.faults.push({ action: 'DescribeInstances', does: 'held' })
      await comes('the question', async () => ec2.faults.length === 0)
      await kubectl('delete', 'pod', name, '--wait=false')
      const endOf = async () =>
        (JSON.parse(await kubectl('get', 'pod', name, '-o', 'json')) as Pod).status.containerStatuses?.[0]?.state
          .terminated
      await comes('its end', async () => (await endOf()) !== undefined)
      const { exitCode, reason } = (await endOf()) ?? {}
      await keep(null)
      assert.equal([exitCode, reason], [0, 'Completed'])
      await kubectl('delete', 'secret', cloudSecret)
    },
    { timeoutMs: 4 * minuteMs },
  )

  t(
    'rolls to a changed value under load: no request fails, no number is lost or given twice',
    async () => {
      const before = [...(await podsOf('api')), ...(await podsOf('controllers'))]
      const answers: Answer[] = []
      let rolling = true
      const load = async () => {
        while (rolling) {
          answers.push(await sendThrough(`roll-${answers.length}`))
          await sleep(200)
        }
      }
      const loading = load()
      loading.catch(() => undefined) // told where it is awaited: the release may take longer
      try {
        await release('upgrade', '--set', 'logLevel=debug')
        await kubectl('wait', '--for=delete', ...before, '--timeout=60s')
      } finally {
        rolling = false
      }
      await loading
      assert.equal(
        answers.filter(({ status }) => status !== 201),
        [],
      )
      assert.equal(
        answers.map(({ body }) => body.number),
        answers.map((_, index) => numberOf(sent + index + 1)),
      )
      sent += answers.length
      console.log(`\ncounted: ${answers.length} invoices while every pod was replaced`)
    },
    { timeoutMs: 7 * minuteMs },
  )

  t(
    'has a standby that takes over when the leader is taken away, and goes on with the next number',
    async () => {
      const first = await leader()
      await kubectl('delete', 'pod', first, '--grace-period=0', '--force')
      const killedMs = performance.now()
      const takeOverMs = 4 * minuteMs // a bound of waiting: pods start slowly where many do
      // A pod that was deleted by force goes on for a moment, and so does its lease.
      while ((await leader()) === first) {
        assert.ok(performance.now() - killedMs < takeOverMs, 'nobody took the lease')
        await sleep(200)
      }
      let answer = await send('after-the-leader')
      while (answer.body.invoice.number === null) {
        assert.ok(performance.now() - killedMs < takeOverMs, 'nobody took over')
        await sleep(500)
        answer = await send('after-the-leader')
      }
      sent += 1
      console.log(
        `\ncounted: numbered again ${((performance.now() - killedMs) / 1000).toFixed(1)} s after the leader went`,
      )
      assert.is(answer.body.invoice.number, numberOf(sent))
    },
    { timeoutMs: 6 * minuteMs },
  )

  t(
    'tells why an upgrade cannot begin, and leaves what runs as it is',
    async () => {
      const before = await podsOf('api')
      const wrong = ['--set', 'secret.databaseUrl=postgresql://nobody:nothing@10.200.0.1:1/none']
      const error = await assert.rejects(release('upgrade', ...wrong))
      assert.match(error instanceof CommandRefusal ? error.detail : '', /pre-upgrade hooks failed.*bottega-migrate/s)
      assert.match(await kubectl('logs', 'job/bottega-migrate'), /ECONNREFUSED/)
      assert.equal(await podsOf('api'), before)
      const { status, body } = await sendThrough('after-a-failed-upgrade')
      sent += 1
      assert.equal([status, body.number], [201, numberOf(sent)])
    },
    { timeoutMs: 7 * minuteMs },
  )

  t(
    'uninstalls and leaves nothing in the cluster, when it may take the definitions along',
    async () => {
      await release('upgrade', '--set', 'logLevel=debug') // the next try takes the failed Job away, and rolls no pod
      await stage.helm(['uninstall', 'one', '-n', namespace, '--wait', '--cascade=foreground', '--timeout=360s'])
      const left = (await takeInventory(stage.node.kubectl)).filter((name) => !objects.includes(name))
      assert.equal(left, [])
    },
    { timeoutMs: 10 * minuteMs }, // a bound of waiting: pods end slowly where the machine does much else
  )

  t(
    'goes with its node from the machine, without a trace',
    async () => {
      await stage.end()
      assert.not.ok(existsSync(dirname(stage.values)))
      assert.equal(difference(machine, lookAtMachine()), [])
    },
    { timeoutMs: 3 * minuteMs },
  )
})
