/** The stand-in's machines, as the world reaches them: an SSH server at each public address, all of them on this machine. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { fingerprintOf } from '../../../api/client/cli/ssh/programs.ts'
import { DEV_USER } from '../../../crds/devinstance/bootstrap/places.ts'
import { makeKey, publicOf } from '../../../hack/stage/hoststage.ts'
import { type Ec2StandIn, startEc2 } from '../ec2/standin.ts'
import { type Machines, makeMachines } from './machines.ts'

/** What the stand-in gives as public addresses (RFC 5737: nobody's). */
export const MACHINES_CIDR = '198.51.100.0/24'
/** Of the first machines of a region; ids and addresses are counted alike. */
const ADDRESSES = 60
const SSH_PORT = 22

export type ReachableCloud = {
  ec2: Ec2StandIn
  machines: Machines
  /** The private key that opens them. */
  identity: string
  end(): Promise<void>
}

const withoutComment = (key: string): string => key.split(' ').slice(0, 2).join(' ')

/** The kernel takes every address of the network for its own. */
const route = (verb: 'replace' | 'del') =>
  execFileSync('ip', ['route', verb, 'local', MACHINES_CIDR, 'dev', 'lo'], { stdio: 'pipe' })

type Door = {
  /** The private host key of the machine at an address; undefined where none is up. */
  hostKeyAt(publicIp: string): string | undefined
  opener: string
  machines: Machines
}

/** One key of one user opens; a command is answered as the machine at that address would. */
const serverFor = (publicIp: string, hostKey: string, { opener, machines }: Door): ssh2.Server => {
  const allowed = ssh2.utils.parseKey(opener)
  if (allowed instanceof Error) throw allowed
  return new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    // who only asks for the host keys hangs up amid the handshake
    client.on('error', () => undefined)
    client.on('authentication', (asked) => {
      if (asked.method !== 'publickey' || asked.username !== DEV_USER) return asked.reject(['publickey'])
      if (!asked.key.data.equals(allowed.getPublicSSH())) return asked.reject(['publickey'])
      const { blob, signature, hashAlgo } = asked
      // without a signature it only asks whether the key would do
      const isGood = !blob || !signature || allowed.verify(blob, signature, hashAlgo) === true
      return isGood ? asked.accept() : asked.reject(['publickey'])
    })
    client.on('session', (accept) =>
      accept().on('exec', (acceptExec, _, { command }) => {
        const channel = acceptExec()
        let input = ''
        channel.on('data', (chunk: Buffer) => {
          input += chunk.toString('utf8')
        })
        channel.on('end', () => {
          void machines.run({ publicIp, hostKeys: [] }, command, input).then(({ code, out, err }) => {
            channel.write(out)
            channel.stderr.write(err)
            channel.exit(code ?? 255)
            channel.end()
          })
        })
      }),
    )
  })
}

const listening = async (publicIp: string, door: Door, sockets: Set<Socket>): Promise<Server> => {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    // a machine that is not up answers nobody
    void door.machines.scan(publicIp).then((keys) => {
      const hostKey = keys.length === 0 ? undefined : door.hostKeyAt(publicIp)
      if (hostKey === undefined) socket.destroy()
      else serverFor(publicIp, hostKey, door).injectSocket(socket)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(SSH_PORT, publicIp, resolve)
  })
  return server
}

/** A region on the clock of the world, with machines to log in to. @param host where EC2 is spoken to */
export const startReachableCloud = async (host: string): Promise<ReachableCloud> => {
  const folder = mkdtempSync(join(tmpdir(), 'bottega-cloud-'))
  const identityFile = join(folder, 'identity')
  makeKey(identityFile)
  const ec2 = await startEc2(() => Date.now(), { host })
  const machines = makeMachines(ec2.region, fingerprintOf)
  /** Each machine has its own, made when somebody asks for it. */
  const fileOf = (machineId: string): string => {
    const file = join(folder, machineId)
    if (!existsSync(file)) makeKey(file)
    return file
  }
  ec2.region.hostKeyOf = (machineId) => withoutComment(publicOf(fileOf(machineId)))
  const hostKeyAt = (publicIp: string): string | undefined => {
    const machineId = [...ec2.region.addresses.values()].find(({ ip }) => ip === publicIp)?.association?.machineId
    return machineId && readFileSync(fileOf(machineId), 'utf8')
  }
  const door = { hostKeyAt, opener: publicOf(identityFile), machines }
  const sockets = new Set<Socket>()
  const servers: Server[] = []
  const end = async () => {
    for (const socket of sockets) socket.destroy()
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    route('del')
    await ec2.end()
    rmSync(folder, { recursive: true, force: true })
  }
  route('replace')
  try {
    for (let at = 1; at <= ADDRESSES; at += 1)
      servers.push(await listening(MACHINES_CIDR.replace('0/24', String(at)), door, sockets))
  } catch (error) {
    await end()
    throw error
  }
  return { ec2, machines, identity: readFileSync(identityFile, 'utf8'), end }
}
