/**
 * The driver and the stand-in, judged by what neither of us wrote: moto, which speaks EC2 over the wire, and EC2's own description of
 * its actions (hack/decisions/099).
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CreateVolumeCommand } from '@aws-sdk/client-ec2'
import { type CloudDriver, CloudFault, type CloudTags } from '../../../../api/client/devbox/cloud/driver.ts'
import { type Ec2Settings, makeEc2 } from '../../../../api/client/devbox/cloud/ec2/driver.ts'
import { ec2Tags } from '../../../../api/client/devbox/cloud/ec2/read.ts'
import { createProgress } from '../../../../hack/lib/progress.ts'
import { ensureTools } from '../../../../hack/lib/tools.ts'
import { type DevboxStage, INSTALLATION, startDevboxStage } from '../../../support/devbox/stage.ts'
import { ACTIONS } from '../../../support/ec2/actions.ts'
import { answeredWrongly, askedWrongly, type Ec2Model, readModel } from '../../../support/ec2/model.ts'
import { type Moto, startMoto } from '../../../support/ec2/moto.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { scratchFolder } from '../../../support/stage/stage.ts'
import { root } from '../../../support/structure/tree.ts'

const tags: CloudTags = { installation: INSTALLATION, box: 'dev-1', label: 'demo/october' }
const USER_DATA = Buffer.from('#cloud-config\npackages: [git]\n# — and what is no ASCII\n')
const order = {
  clientToken: 'a'.repeat(64),
  tags,
  instanceType: 't4g.large',
  arch: 'arm64' as const,
  diskGb: 50,
  userData: USER_DATA,
}
const NOTHING_KNOWN = { machineIds: [], allocationIds: [] }
const START_MS = 10 * 60_000

const faultOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    if (error instanceof CloudFault) return `${error.sort} ${error.code}`
    throw error
  }
  return 'none'
}

/** One machine from its launch to its end, and what the driver reads of it after each verb. @param settle lets time pass */
const live = async (driver: CloudDriver, settle: () => void) => {
  const see = async () => {
    settle()
    const { machines, volumes, addresses } = await driver.inventory(NOTHING_KNOWN)
    return { machine: machines[0], volume: volumes[0], address: addresses[0] }
  }
  const { machineId } = await driver.launch(order)
  const launched = await see()
  const { volumeId = '' } = launched.volume ?? {}
  const facts = await driver.facts(machineId)
  await driver.stop(machineId)
  const stopped = await see()
  await driver.retype(machineId, 'm7g.xlarge')
  await driver.grow(volumeId, 60)
  await driver.start(machineId)
  const started = await see()
  const allocated = await driver.allocate(tags)
  const idle = await see()
  const { associationId } = await driver.associate(allocated.allocationId, machineId)
  const associated = await see()
  await driver.label([machineId, volumeId, allocated.allocationId], 'demo/november')
  const labelled = await see()
  const console = await driver.console(machineId)
  await driver.disassociate(associationId)
  const freed = await see()
  await driver.release(allocated.allocationId)
  const released = await see()
  await driver.terminate(machineId)
  const ended = await see()
  return {
    launched: [launched.machine?.machineId === machineId, launched.machine?.state, launched.machine?.instanceType],
    tags: [launched.machine, launched.volume, idle.address].map((one) => [one?.installation, one?.box, one?.label]),
    disk: [launched.volume?.sizeGb, launched.volume?.attachedTo === machineId, launched.volume?.isGrowing],
    isRecent: Number.isFinite(Date.parse(launched.machine?.launchedAt ?? '')),
    facts,
    stopped: stopped.machine?.state,
    started: [started.machine?.state, started.machine?.instanceType, started.volume?.sizeGb, started.volume?.isGrowing],
    idle: [idle.address?.publicIp === allocated.publicIp, idle.address?.associated, allocated.associated],
    associated:
      JSON.stringify(associated.address?.associated) === JSON.stringify({ machineId, associationId }) &&
      associated.address?.allocationId === allocated.allocationId,
    labelled: [labelled.machine?.label, labelled.volume?.label, labelled.address?.label],
    hasConsole: console.length > 0,
    freed: freed.address?.associated,
    released: released.address,
    ended: [ended.machine?.state, ended.volume],
  }
}

const OURS = [INSTALLATION, 'dev-1', 'demo/october']
/** Said once, for the stand-in and for moto. */
const LIFE: Awaited<ReturnType<typeof live>> = {
  launched: [true, 'running', 't4g.large'],
  tags: [OURS, OURS, OURS],
  disk: [50, true, false],
  isRecent: true,
  facts: {
    instanceType: 't4g.large',
    arch: 'arm64',
    region: 'us-east-1',
    imageId: 'ami-0aaaaaaaaaaaaaaa1',
    diskGb: 50,
    volumeType: 'gp3',
    volumeEncrypted: true,
    httpTokens: 'required',
    hopLimit: 1,
    creditMode: 'standard',
    shutdownBehavior: 'stop',
    userDataSha256: createHash('sha256').update(USER_DATA).digest('hex'),
  },
  stopped: 'stopped',
  started: ['running', 'm7g.xlarge', 60, false],
  idle: [true, null, null],
  associated: true,
  labelled: Array(3).fill('demo/november'),
  hasConsole: true,
  freed: null,
  released: undefined,
  ended: ['terminated', undefined],
}

spec('EC2 by other hands', (t) => {
  let moto: Moto
  t.before(
    async () => {
      moto = await startMoto(INSTALLATION)
    },
    { timeoutMs: START_MS },
  )
  t.after(() => moto?.end())
  const driverWith = (more: Partial<Ec2Settings> = {}) => makeEc2({ ...moto.settings, ...more })

  /**
   * Left to the stand-in (ec2.test.ts), for moto has no rule there: it makes a second machine under the same client token, changes
   * the type of a machine that runs, lets a disk shrink, releases an address in use, says `standard` of the credits of every
   * machine, and has no quota, no capacity that ends, no time in which anything is pending and no delay until it is shown.
   */
  t('says what the driver reads, of each verb', async () => {
    assert.equal(await live(driverWith({ installation: INSTALLATION }), () => {}), LIFE)
  })
  t('finds what is known by its id though it is another’s', async () => {
    const other = { ...tags, installation: 'another' }
    const { machineId } = await driverWith().launch({ ...order, tags: other })
    const { allocationId } = await driverWith().allocate(other)
    const { machines, addresses } = await driverWith().inventory({
      machineIds: [machineId],
      allocationIds: [allocationId],
    })
    assert.equal(
      [...machines, ...addresses].filter(({ installation }) => installation === 'another').map(({ box }) => box),
      ['dev-1', 'dev-1'],
    )
  })
  t('keeps an address where it is, and a disk that is in use', async () => {
    const driver = driverWith({ installation: 'keeping' })
    const own = { ...tags, installation: 'keeping' }
    const [one, two] = [await driver.launch({ ...order, tags: own }), await driver.launch({ ...order, tags: own })]
    const { allocationId } = await driver.allocate(own)
    await driver.associate(allocationId, one.machineId)
    assert.is(await faultOf(driver.associate(allocationId, two.machineId)), 'busy Resource.AlreadyAssociated')
    const attached = (await driver.inventory(NOTHING_KNOWN)).volumes[0]
    assert.is(await faultOf(driver.removeVolume(attached?.volumeId ?? '')), 'busy VolumeInUse')
    const { VolumeId = '' } = await moto.client.send(
      new CreateVolumeCommand({
        AvailabilityZone: 'us-east-1a',
        Size: 8,
        TagSpecifications: [{ ResourceType: 'volume', Tags: ec2Tags(own) }],
      }),
    )
    const left = async () =>
      (await driver.inventory(NOTHING_KNOWN)).volumes.filter(({ attachedTo }) => attachedTo === null)
    assert.equal(
      (await left()).map(({ volumeId }) => volumeId),
      [VolumeId],
    )
    await driver.removeVolume(VolumeId)
    assert.equal(await left(), [])
  })
  t('tells what its settings name wrongly from what is not shown yet', async () => {
    const wrong: Partial<Ec2Settings>[] = [
      { subnetId: 'subnet-0123456789abcdef0' },
      { securityGroupIds: ['sg-0123456789abcdef0'] },
      { keyName: 'nobody' },
      { images: { arm64: 'ami-0123456789abcdef0', x86_64: '' } },
    ]
    const said = []
    for (const one of wrong) said.push(await faultOf(driverWith(one).launch(order)))
    assert.equal(said, [
      'refused InvalidSubnetID.NotFound',
      'refused InvalidGroup.NotFound',
      'refused InvalidKeyPair.NotFound',
      'refused InvalidAMIID.NotFound',
    ])
    const driver = driverWith()
    const [machine, address] = ['i-0123456789abcdef0', 'eipalloc-0123456789abcdef0']
    const { machineId } = await driver.launch(order)
    assert.equal(
      [
        await faultOf(driver.start(machine)),
        await faultOf(driver.stop(machine)),
        await faultOf(driver.terminate(machine)),
        await faultOf(driver.retype(machine, 't4g.large')),
        await faultOf(driver.facts(machine)),
        await faultOf(driver.console(machine)),
        await faultOf(driver.grow('vol-0123456789abcdef0', 60)),
        await faultOf(driver.removeVolume('vol-0123456789abcdef0')),
        await faultOf(driver.associate(address, machineId)),
        await faultOf(driver.release(address)),
        await faultOf(driver.disassociate('eipassoc-0123456789abcdef0')),
      ],
      [
        ...Array(6).fill('missing InvalidInstanceID.NotFound'),
        ...Array(2).fill('missing InvalidVolume.NotFound'),
        ...Array(2).fill('missing InvalidAllocationID.NotFound'),
        'missing InvalidAssociationID.NotFound',
      ],
    )
  })
})

spec('EC2’s own description of its actions', (t) => {
  let stage: DevboxStage
  let model: Ec2Model
  const faults: string[] = []
  const judged = new Set<string>()
  t.before(
    async () => {
      model = readModel((await ensureTools(['moto_server'], { progress: createProgress() })).path('moto_server'))
      stage = await startDevboxStage({
        onExchange: ({ query, xml }) => {
          const action = query.get('Action') ?? ''
          judged.add(action)
          faults.push(...askedWrongly(model, query), ...answeredWrongly(model, action, xml))
        },
      })
    },
    { timeoutMs: START_MS },
  )
  t.after(() => stage?.end())

  t('knows all that the driver asks, and all that the stand-in answers', async () => {
    const { driver } = stage.parts
    assert.equal(await live(driver, () => stage.passes(60_000)), LIFE)
    // without credits, and with what is known by its ids
    const { machineId } = await driver.launch({
      ...order,
      clientToken: 'b'.repeat(64),
      arch: 'x86_64',
      instanceType: 'm7i.xlarge',
    })
    const { allocationId } = await driver.allocate(tags)
    await driver.inventory({ machineIds: [machineId], allocationIds: [allocationId] })
    await driver.facts(machineId)
    const disk = [...stage.ec2.region.volumes.values()].find(({ attachedTo }) => attachedTo === machineId)
    assert.ok(disk)
    disk.attachedTo = null
    await driver.removeVolume(disk.id)
    assert.is(await faultOf(driver.removeVolume(disk.id)), 'missing InvalidVolume.NotFound')
    assert.equal([...judged].sort(), Object.keys(ACTIONS).sort())
    assert.equal([...new Set(faults)], [])
  })
  t('finds what is asked or answered in another shape', () => {
    const asked = (query: string) => askedWrongly(model, new Map(new URLSearchParams(`Version=2016-11-15&${query}`)))
    const answered = (action: string, inner: string) =>
      answeredWrongly(
        model,
        action,
        `<?xml version="1.0" encoding="UTF-8"?>\n<${action}Response>${inner}</${action}Response>`,
      )
    assert.equal(
      [
        asked('Action=StartInstances&InstanceIds.1=i-1'),
        asked('Action=StopInstances&InstanceId.member.1=i-1'),
        asked('Action=StopInstances&InstanceId.2=i-1'),
        asked('Action=RunInstances&MinCount=1&MaxCount=one'),
        asked('Action=RunInstances&MinCount=1&MaxCount=1&InstanceInitiatedShutdownBehavior=halt'),
        asked('Action=ModifyInstanceAttribute&InstanceId=i-1&InstanceType=t4g.large'),
        asked('Action=ModifyVolume&Size=60'),
        asked('Action=StartMachines'),
      ],
      [
        ['StartInstances lacks InstanceIds', 'StartInstances has no InstanceIds'],
        ['StopInstances.InstanceId is not counted from 1'],
        ['StopInstances.InstanceId is not counted from 1'],
        ['RunInstances.MaxCount is no integer: one'],
        ['RunInstances.InstanceInitiatedShutdownBehavior has no such value: halt'],
        ['ModifyInstanceAttribute.InstanceType is no value'],
        ['ModifyVolume lacks VolumeId'],
        ['EC2 has no action StartMachines'],
      ],
    )
    assert.equal(
      [
        answered('DescribeAddresses', '<addressSet/>'),
        answered('DescribeAddresses', '<addressesSet><address/></addressesSet>'),
        answered('DescribeVolumes', '<volumeSet><item><size>fifty</size></item></volumeSet>'),
        answered('StopInstances', '<instancesSet><item><state>stopped</state></item></instancesSet>'),
        answered('ReleaseAddress', '<return>true</return><publicIp>198.51.100.1</publicIp>'),
        answeredWrongly(
          model,
          'StopInstances',
          '<?xml version="1.0" encoding="UTF-8"?>\n<Response><Error/></Response>',
        ),
      ],
      [
        ['DescribeAddresses has no addressSet'],
        ['DescribeAddresses.addressesSet is a list of items'],
        ['DescribeVolumes.volumeSet.item.size is no integer: fifty'],
        ['StopInstances.instancesSet.item has no state'],
        ['ReleaseAddress has no publicIp'],
        ['StopInstances is not refused as EC2 does it'],
      ],
    )
  })
})

spec('moto as a tool', (t) => {
  const folder = scratchFolder('pip')
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  /** On a machine that has not got it yet. */
  const install = (env: Record<string, string>) => {
    const nothing = {
      XDG_CACHE_HOME: join(folder, 'cache'),
      PIP_NO_CACHE_DIR: '1',
      PIP_RETRIES: '0',
      PIP_FIND_LINKS: '',
    }
    const { status, stdout, stderr } = spawnSync(join(root, 'hack', 'tools'), ['path', 'moto_server'], {
      encoding: 'utf8',
      env: { ...process.env, ...nothing, ...env },
    })
    return { status, stdout, said: stderr }
  }

  t('says that there is no package index, and is not there then', () => {
    const { status, stdout, said } = install({ PIP_INDEX_URL: 'http://127.0.0.1:1/' })
    assert.equal([status, stdout], [1, ''])
    assert.match(said, /pip could not install moto: check that .* reaches its package index/)
    assert.equal(globSync('cache/bottega/tools/*/moto_server', { cwd: folder }), [])
  })
  t('takes no other bytes than those that are pinned', () => {
    const [, version = ''] = /^blinker==(\S+)/m.exec(readFileSync(join(root, 'hack/lib/python/moto.txt'), 'utf8')) ?? []
    writeFileSync(join(folder, `blinker-${version}-py3-none-any.whl`), 'of somebody else')
    const { status, said } = install({ PIP_NO_INDEX: '1', PIP_FIND_LINKS: folder })
    assert.is(status, 1)
    assert.match(said, /what the package index gave is not what is pinned/)
  })
})
