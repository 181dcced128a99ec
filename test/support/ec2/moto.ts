/** moto: EC2 by other hands, over the wire. It knows the shapes, and has states; it is not as strict as EC2 is. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CreateKeyPairCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2'
import type { Ec2Settings } from '../../../api/client/devbox/cloud/ec2/driver.ts'
import { freePort } from '../../../hack/lib/ports.ts'
import { createService, waitFor } from '../../../hack/lib/processes.ts'
import { createProgress } from '../../../hack/lib/progress.ts'
import { ensureTools } from '../../../hack/lib/tools.ts'
import { scratchFolder } from '../stage/stage.ts'
import { makeRegion } from './region.ts'
import { ACCESS_KEY } from './standin.ts'

export type Moto = { settings: Ec2Settings; client: EC2Client; end(): Promise<void> }

const REGION = 'us-east-1'
const KEY_NAME = 'operator'
const START_MS = 60_000
/** Of one call: its first of each sort loads what it knows of it. */
const CALL_MS = 60_000

/** The images that the stand-in has, as moto describes its own. */
const imagesFile = (folder: string): string => {
  const path = join(folder, 'images.json')
  const images = [...makeRegion(() => 0).images].map(([ami_id, { arch, rootDevice }]) => ({
    ami_id,
    name: ami_id,
    architecture: arch,
    root_device_name: rootDevice,
    root_device_type: 'ebs',
    virtualization_type: 'hvm',
    public: true,
  }))
  writeFileSync(path, JSON.stringify(images))
  return path
}

const startServer = async (folder: string, command: string) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const logFile = join(folder, 'moto.log')
  const service = createService({
    name: 'moto_server',
    logFile,
    launch: () => ({
      name: 'moto_server',
      owner: process.env.BOTTEGA_OWNER ?? `test-${process.pid}`,
      logFile,
      command,
      args: ['-H', '127.0.0.1', '-p', String(port)],
      env: {
        MOTO_AMIS_PATH: imagesFile(folder),
        // what it lets pass otherwise, though EC2 does not
        MOTO_ENABLE_AMI_VALIDATION: 'true',
        MOTO_ENABLE_KEYPAIR_VALIDATION: 'true',
        MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION: 'true',
      },
    }),
    ready: (signal) =>
      waitFor('moto_server', async () => (await fetch(`${url}/moto-api/`).catch(() => null))?.ok === true, {
        timeoutMs: START_MS,
        signal,
      }),
  })
  await service.start()
  return { url, service }
}

/** What an operator has made before the provisioner runs: a key pair, a subnet and a security group. */
export const startMoto = async (installation: string): Promise<Moto> => {
  const tools = await ensureTools(['moto_server'], { progress: createProgress() })
  const folder = scratchFolder('moto')
  const { url, service } = await startServer(folder, tools.path('moto_server'))
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: 'of moto' })
  const client = new EC2Client({ region: REGION, endpoint: url })
  const end = async () => {
    client.destroy()
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await client.send(new CreateKeyPairCommand({ KeyName: KEY_NAME }))
    const { Subnets } = await client.send(new DescribeSubnetsCommand({}))
    const { SecurityGroups } = await client.send(new DescribeSecurityGroupsCommand({}))
    const settings: Ec2Settings = {
      region: REGION,
      installation,
      endpoint: url,
      subnetId: Subnets?.[0]?.SubnetId ?? '',
      securityGroupIds: [SecurityGroups?.[0]?.GroupId ?? ''],
      keyName: KEY_NAME,
      images: { arm64: 'ami-0aaaaaaaaaaaaaaa1', x86_64: 'ami-0bbbbbbbbbbbbbbb2' },
      timeoutMs: CALL_MS,
    }
    return { settings, client, end }
  } catch (error) {
    await end()
    throw error
  }
}
