/**
 * A strict stand-in for EC2 on loopback: the actions that the provisioner uses, spoken as EC2 speaks them, and faults that no real
 * region gives when it is asked.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ACTIONS } from './actions.ts'
import { Ec2Refusal, type Query, refuseUnknown, xmlOf } from './query.ts'
import { type Ec2Region, launchMachine, machineNamed, makeRegion } from './region.ts'

/**
 * lostBefore, lostAfter: the connection breaks, before or after the effect. held: nothing is done, and no answer comes. duplicate: a
 * second thing is made. refused: with this code. What was made while `unseen` is not shown for so many looks.
 */
export type Ec2Fault =
  | { action: string; does: 'lostBefore' | 'lostAfter' | 'held' | 'duplicate' }
  | { action: string; does: 'refused'; code: string }
  | { action: string; does: 'unseen'; looks: number }

export type Ec2StandIn = {
  url: string
  region: Ec2Region
  /** Each is used up by the first call of its action. */
  faults: Ec2Fault[]
  /** Types that have no capacity. */
  full: Set<string>
  /** Actions as they came. */
  asked: string[]
  /** For how many looks more a thing is not shown, by its id. */
  unseen: Map<string, number>
  end(): Promise<void>
}

export const ACCESS_KEY = 'AKIASTANDIN000000000'
const VERSION = '2016-11-15'
const SIGNED = new RegExp(
  `^AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/\\d{8}/[a-z0-9-]+/ec2/aws4_request, SignedHeaders=`,
)
const NEEDS_CAPACITY = ['RunInstances', 'StartInstances']

/** A request and the answer that it got. */
export type Ec2Exchange = { query: Query; xml: string }
/** `host`: where it listens, loopback unless pods have to reach it. */
export type Ec2Options = { onExchange?: (exchange: Ec2Exchange) => void; host?: string }

type Region = Pick<Ec2StandIn, 'region' | 'faults' | 'full' | 'asked' | 'unseen'> & Ec2Options

const readBody = async (request: IncomingMessage): Promise<Query> => {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return new Map(new URLSearchParams(Buffer.concat(chunks).toString('utf8')))
}

const refuseFull = ({ region, full }: Region, action: string, query: Query): void => {
  if (!NEEDS_CAPACITY.includes(action)) return
  const id = query.get('InstanceId.1')
  const type = id === undefined ? (query.get('InstanceType') ?? '') : machineNamed(region, id).type
  const isMade = region.tokens.has(query.get('ClientToken') ?? '')
  if (full.has(type) && !isMade)
    throw new Ec2Refusal('InsufficientInstanceCapacity', `We currently do not have sufficient ${type} capacity`, 500)
}

/** Looks count down until what is new is shown. */
const hides = ({ unseen }: Region, id: string): boolean => {
  const left = unseen.get(id) ?? 0
  unseen.set(id, left - 1)
  return left > 0
}

const newestOf = ({ region: { machines, addresses } }: Region, action: string): string =>
  [...(action === 'AllocateAddress' ? addresses : machines).keys()].at(-1) ?? ''

/** A launch that was made twice although it bore a token: kubernetes-sigs/cluster-api-provider-aws#5512. */
const makeTwice = (at: Region, action: string, query: Query): void => {
  if (action !== 'RunInstances') ACTIONS[action]?.run(at.region, query, () => false)
  else {
    const { tags, ...rest } = machineNamed(at.region, newestOf(at, action))
    const {
      tags: volumeTags,
      sizeGb,
      type,
      encrypted,
      deleteOnTermination,
    } = [...at.region.volumes.values()].at(-1) ?? {
      tags,
      sizeGb: 1,
      type: 'gp3',
      encrypted: true,
      deleteOnTermination: true,
    }
    const disk = { device: rest.rootDevice, sizeGb, type, encrypted, deleteOnTermination }
    launchMachine(at.region, { ...rest, tags, volumeTags, disk })
  }
}

const answerTo = (at: Region, query: Query): { text: string; isLost: boolean } | 'held' => {
  const name = query.get('Action') ?? ''
  const action = ACTIONS[name]
  if (!action) throw new Ec2Refusal('InvalidAction', `The action ${name} is not valid for this web service.`)
  at.asked.push(name)
  if (query.get('Version') !== VERSION) throw new Ec2Refusal('NoSuchVersion', 'The requested version does not exist')
  refuseUnknown(query, action.knows)
  const index = at.faults.findIndex((one) => one.action === name)
  const [fault] = index < 0 ? [] : at.faults.splice(index, 1)
  if (fault?.does === 'held') return 'held'
  if (fault?.does === 'lostBefore') return { text: '', isLost: true }
  if (fault?.does === 'refused') throw new Ec2Refusal(fault.code, 'as the test asked', 400)
  refuseFull(at, name, query)
  const value = action.run(at.region, query, (id) => hides(at, id))
  if (fault?.does === 'duplicate') makeTwice(at, name, query)
  if (fault?.does === 'unseen') at.unseen.set(newestOf(at, name), fault.looks)
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<${name}Response xmlns="http://ec2.amazonaws.com/doc/${VERSION}/"><requestId>${randomUUID()}</requestId>${xmlOf(value)}</${name}Response>`
  return { text, isLost: fault?.does === 'lostAfter' }
}

const refusalXml = ({ code, message }: Ec2Refusal): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${xmlOf({ Errors: { Error: { Code: code, Message: message } }, RequestID: randomUUID() })}</Response>`

const answer = async (at: Region, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const query = await readBody(request)
  const say = (status: number, xml: string) => {
    at.onExchange?.({ query, xml })
    response.writeHead(status, { 'content-type': 'text/xml;charset=UTF-8' }).end(xml)
  }
  try {
    if (!SIGNED.test(request.headers.authorization ?? ''))
      throw new Ec2Refusal('AuthFailure', 'AWS was not able to validate the provided access credentials', 401)
    const answered = answerTo(at, query)
    if (answered === 'held') return
    if (answered.isLost) request.socket.destroy()
    else say(200, answered.text)
  } catch (error) {
    if (!(error instanceof Ec2Refusal)) throw error
    say(error.status, refusalXml(error))
  }
}

/** @param nowMs the clock of the region */
export const startEc2 = async (nowMs: () => number, options: Ec2Options = {}): Promise<Ec2StandIn> => {
  const at: Region = {
    region: makeRegion(nowMs),
    faults: [],
    full: new Set(),
    asked: [],
    unseen: new Map(),
    ...options,
  }
  const { host = '127.0.0.1' } = options
  // on a slow machine the next call may come long after the one before; a connection that closes just then is no fault that was asked for
  const keepAliveTimeout = 10 * 60_000
  const server = createServer({ keepAliveTimeout }, (request, response) => void answer(at, request, response))
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    ...at,
    url: `http://${host}:${port}`,
    end: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
