/** Machines of the stand-in as they would be over SSH: what they attest, what was handed to them, how far their disk has grown. */
import { consoleKeys } from '../../../api/client/devbox/box/inside.ts'
import type { BoxShell } from '../../../api/client/devbox/box/shell.ts'
import { AGENTS } from '../../../crds/devinstance/bootstrap/agents.ts'
import { SSHD_SETTINGS } from '../../../crds/devinstance/bootstrap/sshd.ts'
import { ENABLED } from '../../../crds/devinstance/bootstrap/units.ts'
import { type Ec2Machine, type Ec2Region, stateOf } from '../ec2/region.ts'
import { consoleOf } from '../ec2/views.ts'

/** cloud-init is done so long after the boot. */
const CLOUD_INIT_MS = 10_000

export type Machines = BoxShell & {
  /** The report token that a machine holds, by its id. */
  tokens: Map<string, string>
  /** What a look says in place of the truth. */
  says: { hostKeys?: string[]; passwords?: string; isRefused?: (machineId: string) => boolean }
}

const attested = (passwords: string | undefined) => ({
  facts: {
    cloudInitStatus: 0,
    hostKeys: [] as string[],
    listeners: [22],
    units: [...ENABLED],
    openAccounts: [],
    agents: Object.fromEntries(Object.entries(AGENTS).map(([id, { version }]) => [id, version])),
  },
  assertions: {
    ...Object.fromEntries(SSHD_SETTINGS.map(({ keyword, value }) => [keyword.toLowerCase(), value])),
    ...(passwords !== undefined && { passwordauthentication: passwords }),
  },
})

export const makeMachines = (region: Ec2Region, fingerprint: (key: string) => string): Machines => {
  const tokens = new Map<string, string>()
  /** Of the file systems; a volume that has grown since the boot is larger. */
  const filled = new Map<string, number>()
  const says: Machines['says'] = {}
  const at = (publicIp: string): Ec2Machine | undefined => {
    const address = [...region.addresses.values()].find(({ ip }) => ip === publicIp)
    const machine = region.machines.get(address?.association?.machineId ?? '')
    return machine && stateOf(region, machine) === 'running' ? machine : undefined
  }
  const keysOf = (machine: Ec2Machine) =>
    says.hostKeys ?? consoleKeys(consoleOf(machine, region.hostKeyOf?.(machine.id)))
  const look = (machine: Ec2Machine): string => {
    const sizeGb = region.volumes.get(machine.volumeId)?.sizeGb ?? 0
    const df = filled.get(machine.id) ?? sizeGb
    if (!filled.has(machine.id)) filled.set(machine.id, sizeGb)
    const isDone = region.nowMs() - machine.madeMs > CLOUD_INIT_MS
    const said = attested(says.passwords)
    said.facts.hostKeys = keysOf(machine).map(fingerprint)
    return [
      `df ${df * 1000}M`,
      ...(tokens.has(machine.id) && !says.isRefused?.(machine.id) ? ['token'] : []),
      ...(isDone ? [`attested ${JSON.stringify(said)}`] : []),
      '',
    ].join('\n')
  }
  return {
    tokens,
    says,
    async scan(publicIp) {
      const machine = at(publicIp)
      return machine ? keysOf(machine) : []
    },
    async run({ publicIp }, command, input) {
      const machine = at(publicIp)
      if (!machine) return { code: 255, out: '', err: 'Connection refused' }
      if (command.includes('/bin/token')) tokens.set(machine.id, input.trim())
      else if (input.includes('growpart')) filled.set(machine.id, region.volumes.get(machine.volumeId)?.sizeGb ?? 0)
      else return { code: 0, out: look(machine), err: '' }
      return { code: 0, out: '', err: '' }
    },
  }
}
