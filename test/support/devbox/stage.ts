/** Registry, region and machines on one clock that nobody has to wait for, and a provisioner between them. */

import { makeApi } from '../../../api/client/cli/net/api.ts'
import { makeTerminal } from '../../../api/client/cli/show/terminal.ts'
import { fingerprintOf } from '../../../api/client/cli/ssh/programs.ts'
import { makeEc2 } from '../../../api/client/devbox/cloud/ec2/driver.ts'
import type { BoxGoal, BoxStep } from '../../../api/client/devbox/plan/world.ts'
import { type Converged, type Converging, converge } from '../../../api/client/devbox/run/converge.ts'
import { makeRegistry } from '../../../api/client/devbox/run/registry.ts'
import { T0 } from '../builders/devinstance.ts'
import { ACCESS_KEY, type Ec2Options, type Ec2StandIn, startEc2 } from '../ec2/standin.ts'
import { type Machines, makeMachines } from './machines.ts'
import { type MemoryRegistry, startRegistry } from './registry.ts'

export const INSTALLATION = 'bottega-test'
const DAY_MS = 24 * 3_600_000

export type DevboxStage = {
  ec2: Ec2StandIn
  registry: MemoryRegistry
  machines: Machines
  /** The steps of all that was brought anywhere, in their order. */
  steps: BoxStep[]
  parts: Converging
  go(id: string, goal: BoxGoal, more?: Partial<Converging>): Promise<Converged>
  passes(ms: number): void
  end(): Promise<void>
}

const QUIET = { write: () => true }

export const startDevboxStage = async (options: Ec2Options = {}): Promise<DevboxStage> => {
  let ms = Date.parse(T0)
  const nowMs = () => ms
  const passes = (more: number) => {
    ms += more
  }
  const [ec2, registry] = await Promise.all([startEc2(nowMs, options), startRegistry(nowMs)])
  const machines = makeMachines(ec2.region, fingerprintOf)
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: 'of the stand-in' })
  const driver = makeEc2({
    region: 'us-east-1',
    installation: INSTALLATION,
    endpoint: ec2.url,
    subnetId: 'subnet-1',
    securityGroupIds: ['sg-1'],
    keyName: 'operator',
    images: { arm64: 'ami-0aaaaaaaaaaaaaaa1', x86_64: 'ami-0bbbbbbbbbbbbbbb2' },
    timeoutMs: 5_000,
  })
  const terminal = makeTerminal(
    { stdout: QUIET, stderr: QUIET },
    { isJson: false, isQuiet: true, noColour: true, nowMs },
  )
  const signal = new AbortController().signal
  const api = makeApi({
    baseUrl: registry.url,
    token: 'btg_test',
    terminal,
    version: '1',
    endMs: Number.POSITIVE_INFINITY,
    signal,
  })
  const steps: BoxStep[] = []
  const parts: Converging = {
    driver,
    registry: makeRegistry(api),
    shell: machines,
    installation: INSTALLATION,
    nowMs,
    sleep: async (more) => passes(Math.max(more, 100)),
    tell: (_, step) => void steps.push(step),
  }
  return {
    ec2,
    registry,
    machines,
    steps,
    parts,
    passes,
    go: (id, goal, more) => converge({ ...parts, ...more }, { id, goal, endMs: nowMs() + DAY_MS }),
    end: async () => {
      await Promise.all([ec2.end(), registry.end()])
    },
  }
}
