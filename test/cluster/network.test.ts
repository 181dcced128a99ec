/** What the chart's network policies let through, judged as a network would, and what the chart demands before it makes any. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { API, CONTROLLERS, developmentNames } from '../../controllers/base/env.ts'
import { createProgress } from '../../hack/lib/progress.ts'
import { CommandRefusal } from '../../hack/lib/refusal.ts'
import { ensureTools } from '../../hack/lib/tools.ts'
import { chartFolder, createHelm, exampleValues, type Helm } from '../../hack/stage/helm.ts'
import { assert, spec } from '../support/runner/spec.ts'

type Block = { cidr: string; except?: string[] }
type Rule = { ports?: { port?: number | string; protocol?: string }[]; to?: { ipBlock?: Block }[] }
type Policy = {
  kind: string
  metadata: { name: string }
  spec: { policyTypes: string[]; egress: Rule[]; ingress: Rule[] }
}

const buildMs = 20 * 60_000
const folder = mkdtempSync('/tmp/bottega-test-network-')
let helm: Helm

const holds = (network: string, address: string): boolean => {
  const family = address.includes(':') ? 'ipv6' : 'ipv4'
  const [base = '', bits] = network.split('/')
  if (base.includes(':') !== address.includes(':')) return false
  const list = new BlockList()
  list.addSubnet(base, Number(bits), family)
  return list.check(address, family)
}

/** Whether a packet may leave: one rule with its port and its address is enough; a rule without addresses means any. Pods are no addresses. */
const lets = ({ spec: { egress } }: Policy, address: string, port: number, protocol = 'TCP'): boolean =>
  egress.some(
    ({ ports = [], to }) =>
      ports.some((one) => (one.protocol ?? 'TCP') === protocol && (one.port === undefined || one.port === port)) &&
      (to === undefined ||
        to.some(
          ({ ipBlock }) =>
            ipBlock !== undefined &&
            holds(ipBlock.cidr, address) &&
            !(ipBlock.except ?? []).some((one) => holds(one, address)),
        )),
  )

const template = (...args: string[]) => helm(['template', 'one', chartFolder, '--namespace', 'shop', ...args])

/** The provisioner, as somebody in a cloud has it. */
const PROVISIONER = [
  ...['enabled=true', 'existingSecret=cloud', 'installation=shop', 'ec2.region=eu-central-1', 'ec2.subnet=subnet-0a'],
  ...['ec2.securityGroups[0]=sg-0a', 'ec2.keyName=operator', 'ec2.images.arm64=ami-0a', 'ec2.images.x86_64=ami-0b'],
].flatMap((one) => ['--set', `provisioner.${one}`])

/** The policies, by the process that they are for. */
const policies = async (...args: string[]): Promise<Record<'api' | 'controllers' | 'provisioner', Policy>> => {
  const objects = parseAllDocuments(await template(...PROVISIONER, ...args)).map((one) => one.toJS() as Policy)
  const of = (name: string) => {
    const found = objects.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === `bottega-${name}`)
    if (found === undefined) throw new Error(`There is no policy for ${name}`)
    return found
  }
  return { api: of('api'), controllers: of('controllers'), provisioner: of('provisioner') }
}

const refusal = async (work: Promise<string>): Promise<string> => {
  const error = await assert.rejects(work, (one) => one instanceof CommandRefusal)
  return error instanceof CommandRefusal ? error.detail : ''
}

const PRIVATE = ['10.1.2.3', '172.16.0.9', '192.168.7.7', '100.64.0.1', '127.0.0.1', 'fd00::1', 'fe80::1', '::1']
const METADATA = ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200']

spec('the network policies', (t) => {
  t.before(
    async () => {
      const tools = await ensureTools(['helm'], { progress: createProgress() })
      helm = createHelm({ path: tools.path('helm'), folder })
    },
    { timeoutMs: buildMs },
  )
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  t('are made unless somebody says no, for what comes in and what goes out', async () => {
    for (const { spec } of Object.values(await policies('--values', exampleValues)))
      assert.equal(spec.policyTypes, ['Ingress', 'Egress'])
    const without = await template('--values', exampleValues, '--set', 'networkPolicy.enabled=false')
    assert.not.match(without, 'NetworkPolicy')
  })

  t('let webhooks go to public addresses, and to no private one and no metadata service', async () => {
    const { api, controllers } = await policies('--values', exampleValues)
    const passing = (addresses: string[], ports: number[]) =>
      [api, controllers].flatMap((policy) =>
        addresses.flatMap((address) =>
          ports.filter((port) => lets(policy, address, port)).map((port) => `${address} ${port}`),
        ),
      )
    assert.equal(passing([...PRIVATE, ...METADATA], [22, 80, 443, 6443, 8080, 9200, 10250]), [])
    assert.is(passing(['93.184.216.34', '2606:4700::1111', '8.8.8.8'], [22, 443, 8443]).length, 2 * 3 * 3)
  })

  t(
    'let the provisioner go to names, to the cloud and to sshd of machines, at public addresses and nowhere else',
    async () => {
      const { provisioner } = await policies('--values', exampleValues)
      const open = (address: string) =>
        [22, 53, 80, 443, 587, 5432, 6443, 8080, 9090].filter((port) => lets(provisioner, address, port))
      for (const address of ['93.184.216.34', '2606:4700::1111']) assert.equal(open(address), [22, 53, 443], address)
      // publicUrl may lead to a private address, and is asked by its port
      for (const address of ['10.1.2.3', 'fd00::1']) assert.equal(open(address), [53, 443], address)
      for (const address of METADATA) assert.equal(open(address), [53], address)
      const byName = (await policies('--values', exampleValues, '--set', 'publicUrl=http://bottega.example.org'))
        .provisioner
      for (const address of METADATA) assert.not.ok(lets(byName, address, 80), address)
      assert.ok(lets(byName, '10.1.2.3', 80))
      const plain = await policies('--values', exampleValues, '--set', 'publicUrl=http://10.9.0.7')
      assert.equal(
        [
          lets(plain.provisioner, '10.9.0.7', 80),
          lets(plain.provisioner, '10.9.0.8', 80),
          lets(plain.provisioner, '10.9.0.7', 443),
        ],
        [true, false, false],
      )
    },
  )

  t('let names, PostgreSQL and the API server through, and mail from the controllers alone', async () => {
    const { api, controllers } = await policies('--values', exampleValues)
    for (const policy of [api, controllers]) {
      assert.ok(lets(policy, '10.96.0.10', 53, 'UDP') && lets(policy, '10.96.0.10', 53))
      assert.ok(lets(policy, '10.1.2.3', 5432))
      assert.ok(lets(policy, '10.0.0.1', 6443) && lets(policy, '10.0.0.1', 443))
      assert.not.ok(lets(policy, '10.0.0.2', 6443))
    }
    assert.ok([25, 465, 587].every((port) => lets(controllers, '10.1.2.3', port)))
    assert.ok([25, 465, 587].every((port) => !lets(api, '10.1.2.3', port)))
  })

  t('follow the URLs that are given as values, down to the one address', async () => {
    const values = join(folder, 'values.json')
    const secret = {
      databaseUrl: 'postgresql://o:p@10.9.0.5:6000/bottega',
      apiDatabaseUrl: 'postgresql://a:p@10.9.0.5:6000/bottega',
      secretKey: Buffer.alloc(32, 7).toString('base64'),
      smtpUrl: 'smtp://u:p%40ss@mail.shop.svc:2525',
    }
    const networkPolicy = { apiServer: { cidrs: ['10.0.0.1/32'] }, hosts: ['10.7.0.0/24'] }
    const given = {
      publicUrl: 'https://a.test',
      proxies: 0,
      resourceNamespace: '',
      mail: { from: 'a@b.test' },
      secret,
      networkPolicy,
    }
    writeFileSync(values, JSON.stringify(given))
    const { api, controllers } = await policies('--values', values)
    assert.equal(
      [lets(api, '10.9.0.5', 6000), lets(api, '10.9.0.6', 6000), lets(api, '10.9.0.5', 5432)],
      [true, false, false],
    )
    assert.equal([lets(controllers, '10.1.1.1', 2525), lets(controllers, '10.1.1.1', 587)], [true, false])
    assert.equal([lets(controllers, '10.7.0.9', 2222), lets(api, '10.7.0.9', 2222)], [true, false])
  })

  t('take rules of the operator, and stand in the way of nothing else', async () => {
    const rule = '{"ports":[{"port":8000,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"10.3.0.0/16"}}]}'
    const { api } = await policies('--values', exampleValues, '--set-json', `networkPolicy.egress=[${rule}]`)
    assert.equal([lets(api, '10.3.0.1', 8000), lets(api, '10.4.0.1', 8000)], [true, false])
  })

  t('want the API server named where nobody can ask the cluster', async () => {
    const told = await refusal(template('--values', exampleValues, '--set-json', 'networkPolicy.apiServer.cidrs=[]'))
    assert.match(told, 'networkPolicy.apiServer.cidrs: the addresses of the API server')
  })
})

spec('the chart', (t) => {
  const settled = ['--values', exampleValues, '--set', 'proxies=null']

  t('demands to know how a client is told from a proxy, and takes 0 for an answer', async () => {
    assert.match(
      await refusal(template(...settled)),
      /proxies: how many proxies of yours stand before the api.*1 behind an ingress, 0/,
    )
    const given = async (...args: string[]) =>
      /BOTTEGA_(PROXIES|CLIENT_ADDRESS_HEADER)\n\s+value: (\S+)/.exec(await template(...args))?.slice(1)
    assert.equal(await given('--values', exampleValues, '--set', 'proxies=0'), ['PROXIES', '"0"'])
    const header = [...settled, '--set', 'clientAddressHeader=CF-Connecting-IP']
    assert.equal(await given(...header), ['CLIENT_ADDRESS_HEADER', '"CF-Connecting-IP"'])
    const both = template('--values', exampleValues, '--set', 'clientAddressHeader=X-Real-IP')
    assert.match(await refusal(both), 'proxies: not together with clientAddressHeader')
    const setting = template('--values', exampleValues, '--set-string', 'settings.BOTTEGA_PROXIES=2')
    assert.match(await refusal(setting), 'settings.BOTTEGA_PROXIES: is proxies or clientAddressHeader')
  })

  t('demands to know where resources live, and has them beside the pods only where that is said', async () => {
    const unsaid = template('--values', exampleValues, '--set', 'resourceNamespace=null')
    assert.match(await refusal(unsaid), /resourceNamespace: .*kubectl create namespace.*built-in role edit/)
    const whereOf = async (value: string) => {
      const text = await template('--values', exampleValues, '--set', `resourceNamespace=${value}`)
      return /name: BOTTEGA_NAMESPACE\n\s+value: (\S+)/.exec(text)?.[1]
    }
    assert.equal([await whereOf(''), await whereOf('things')], ['"shop"', '"things"'])
  })

  t('refuses every setting of development by its name', async () => {
    const names = new Set([...developmentNames(API), ...developmentNames(CONTROLLERS)])
    assert.ok(names.size >= 3)
    for (const name of names) {
      const told = await refusal(template('--values', exampleValues, '--set-string', `settings.${name}=on`))
      assert.match(told, `settings.${name}: is for development`)
    }
  })
})
