/** EC2's driver and its stand-in, each judged by the other over the wire: what the SDK sends is what the stand-in knows, strictly. */
import { CloudFault, type CloudTags } from '../../../../api/client/devbox/cloud/driver.ts'
import { type DevboxStage, INSTALLATION, startDevboxStage } from '../../../support/devbox/stage.ts'
import { ACCESS_KEY } from '../../../support/ec2/standin.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const tags: CloudTags = { installation: INSTALLATION, box: 'dev-1', label: 'demo/october' }
const order = {
  clientToken: 'a'.repeat(64),
  tags,
  instanceType: 't4g.large',
  arch: 'arm64' as const,
  diskGb: 50,
  userData: Buffer.from('#cloud-config\n'),
}
const NOTHING_KNOWN = { machineIds: [], allocationIds: [] }

const faultOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    if (error instanceof CloudFault) return `${error.sort} ${error.code}`
    throw error
  }
  return 'none'
}

spec('EC2, over the wire', (t) => {
  let stage: DevboxStage
  t.before(async () => {
    stage = await startDevboxStage()
  })
  t.after(() => stage.end())
  t.before.each(() => {
    const { region, faults, full } = stage.ec2
    for (const map of [region.machines, region.volumes, region.addresses, region.tokens]) map.clear()
    faults.length = 0
    full.clear()
  })

  t(
    'launches one machine of one token, encrypted, without credentials for its containers, and finds it by its tag',
    async () => {
      const { driver } = stage.parts
      const { machineId } = await driver.launch(order)
      assert.is((await driver.launch(order)).machineId, machineId)
      stage.passes(60_000)
      const { machines, volumes } = await driver.inventory(NOTHING_KNOWN)
      assert.equal(
        machines.map(({ machineId: id, state, box, label }) => [id, state, box, label]),
        [[machineId, 'running', 'dev-1', 'demo/october']],
      )
      assert.equal(
        volumes.map(({ sizeGb, attachedTo, box }) => [sizeGb, attachedTo, box]),
        [[50, machineId, 'dev-1']],
      )
      const facts = await driver.facts(machineId)
      assert.equal(
        [
          facts.volumeEncrypted,
          facts.volumeType,
          facts.httpTokens,
          facts.hopLimit,
          facts.creditMode,
          facts.shutdownBehavior,
        ],
        [true, 'gp3', 'required', 1, 'standard', 'stop'],
      )
    },
  )
  t('refuses another launch under the same token', async () => {
    const { driver } = stage.parts
    await driver.launch(order)
    assert.is(await faultOf(driver.launch({ ...order, diskGb: 60 })), 'refused IdempotentParameterMismatch')
  })
  t('reads every page, and what is known by its id though it is another’s', async () => {
    const { driver } = stage.parts
    const launched = []
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      launched.push(await driver.launch({ ...order, clientToken: name.repeat(64) }))
    const other = await driver.launch({
      ...order,
      clientToken: 'f'.repeat(64),
      tags: { ...tags, installation: 'another' },
    })
    assert.is((await driver.inventory(NOTHING_KNOWN)).machines.length, launched.length)
    const { machines } = await driver.inventory({ machineIds: [other.machineId], allocationIds: [] })
    assert.is(machines.find(({ machineId }) => machineId === other.machineId)?.installation, 'another')
  })
  t('tells the sorts of faults apart', async () => {
    const { driver } = stage.parts
    const { ec2 } = stage
    ec2.full.add('t4g.large')
    assert.is(await faultOf(driver.launch(order)), 'capacity InsufficientInstanceCapacity')
    ec2.full.clear()
    const { machineId } = await driver.launch(order)
    assert.is(await faultOf(driver.retype(machineId, 'm7g.xlarge')), 'busy IncorrectInstanceState')
    assert.is(await faultOf(driver.stop('i-00000000000000fff')), 'missing InvalidInstanceID.NotFound')
    for (let made = 0; made < 5; made += 1) await driver.allocate(tags)
    assert.is(await faultOf(driver.allocate(tags)), 'limit AddressLimitExceeded')
    ec2.faults.push({ action: 'ReleaseAddress', does: 'lostBefore' })
    const [address] = (await driver.inventory(NOTHING_KNOWN)).addresses
    assert.match(await faultOf(driver.release(address?.allocationId ?? '')), /^unknown /)
  })
  t('knows what EC2 calls each of them', async () => {
    const { driver } = stage.parts
    const sorts: Record<string, readonly string[]> = {
      busy: ['ConcurrentTagAccess', 'CreditSpecificationUpdateInProgress', 'RequestLimitExceeded', 'InvalidInstanceID'],
      limit: ['AddressLimitExceeded', 'ResourceLimitExceeded', 'VolumeModificationSizeLimitExceeded'],
      denied: ['InvalidClientTokenId', 'SignatureDoesNotMatch', 'PendingVerification', 'Blocked', 'AuthFailure'],
      missing: ['InvalidAddressID.NotFound', 'InvalidID'],
      refused: ['InvalidSubnetID.NotFound', 'InvalidAMIID.Malformed', 'InsufficientFreeAddressesInSubnet'],
      spent: ['IdempotentInstanceTerminated'],
    }
    for (const [sort, codes] of Object.entries(sorts))
      for (const code of codes) {
        stage.ec2.faults.push({ action: 'ReleaseAddress', does: 'refused', code })
        assert.is(await faultOf(driver.release('eipalloc-1')), `${sort} ${code}`)
      }
  })
  t(
    'waits with an address for a machine that is not up, and does not launch under the token of one that ended',
    async () => {
      const { driver } = stage.parts
      const { machineId } = await driver.launch(order)
      const { allocationId } = await driver.allocate(tags)
      assert.is(await faultOf(driver.associate(allocationId, machineId)), 'busy InvalidInstanceID')
      await driver.terminate(machineId)
      stage.passes(60_000)
      assert.is(await faultOf(driver.launch(order)), 'spent IdempotentInstanceTerminated')
    },
  )
  t('does not shrink a disk, release an address in use, or change a type across architectures', async () => {
    const { driver } = stage.parts
    const { machineId } = await driver.launch(order)
    stage.passes(60_000)
    const { volumes } = await driver.inventory(NOTHING_KNOWN)
    assert.is(await faultOf(driver.grow(volumes[0]?.volumeId ?? '', 40)), 'refused InvalidParameterValue')
    const { allocationId } = await driver.allocate(tags)
    await driver.associate(allocationId, machineId)
    assert.is(await faultOf(driver.release(allocationId)), 'busy InvalidIPAddress.InUse')
    await driver.stop(machineId)
    stage.passes(60_000)
    assert.is(await faultOf(driver.retype(machineId, 'm7i.xlarge')), 'refused InvalidParameterCombination')
  })
  t('has a stand-in that knows neither other parameters nor requests that are not signed', async () => {
    const ask = async (body: string, authorization: string) => {
      const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' }
      const answer = await fetch(stage.ec2.url, { method: 'POST', headers, body })
      return /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1]
    }
    const signed = `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/20261126/us-east-1/ec2/aws4_request, SignedHeaders=host`
    const start = 'Action=StartInstances&Version=2016-11-15'
    assert.is(await ask(`${start}&InstanceId.1=i-1&Colour=red`, signed), 'UnknownParameter')
    assert.is(await ask(start, 'Bearer x'), 'AuthFailure')
    assert.is(await ask('Action=Dance&Version=2016-11-15', signed), 'InvalidAction')
  })
})
