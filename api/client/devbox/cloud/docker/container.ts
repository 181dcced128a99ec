/**
 * What a dev instance is in Docker. The machine is a container that systemd runs in, its disk a volume under /home beside the
 * container's own layer, which both stay until it is taken down. Labels of Docker never change, so what changes of a machine is
 * in the container's name: its type, the size of its disk, and what people call it. `docker ps` shows them.
 */
import { instanceTypeNamed } from '../../../../../crds/devinstance/sizing/sizes.ts'
import { BOX_TAG, CloudFault, type CloudTags, INSTALLATION_TAG, type MachineOrder, NAME_TAG } from '../driver.ts'

export const MACHINE_LABEL = 'bottega:machine'
const MADE_AS_LABEL = 'bottega:made-as'

export type DockerLabels = Readonly<Record<string, string>>

/** What of a machine changes while it lives. */
export type MachineName = { machineId: string; instanceType: string; diskGb: number; label: string | null }

/** `demo/october` → `demo_2foctober`: a name of Docker has letters, digits and `_.-`. */
const coded = (label: string): string =>
  Array.from(Buffer.from(label, 'utf8'), (byte) => {
    const letter = String.fromCharCode(byte)
    return /[A-Za-z0-9-]/.test(letter) ? letter : `_${byte.toString(16).padStart(2, '0')}`
  }).join('')

const decoded = (text: string): string => decodeURIComponent(text.replaceAll('_', '%'))

/** `i-0a….t3.medium.30g.demo_2foctober` */
export const nameOf = ({ machineId, instanceType, diskGb, label }: MachineName): string =>
  `${machineId}.${instanceType}.${diskGb}g.${coded(label ?? '')}`

const NAME = /^\/?(i-[0-9a-f]{17})\.([a-z0-9-]+\.[a-z0-9]+)\.(\d+)g\.([\w-]*)$/

const parsed = (name: string): MachineName | undefined => {
  const [, machineId = '', instanceType = '', diskGb, label = ''] = NAME.exec(name) ?? []
  if (diskGb === undefined) return undefined
  return { machineId, instanceType, diskGb: Number(diskGb), label: label === '' ? null : decoded(label) }
}

/** By its name; by what it was made as where somebody gave it another by hand. @returns undefined for what is no machine of ours */
export const readName = (name: string, labels: DockerLabels): MachineName | undefined =>
  parsed(name) ?? parsed(labels[MADE_AS_LABEL] ?? '')

export const tagsFrom = (labels: DockerLabels | null): CloudTags => ({
  installation: labels?.[INSTALLATION_TAG] ?? null,
  box: labels?.[BOX_TAG] ?? null,
  label: labels?.[NAME_TAG] ?? null,
})

export const labelsOf = ({ installation, box, label }: CloudTags): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ [INSTALLATION_TAG]: installation, [BOX_TAG]: box, [NAME_TAG]: label }).flatMap(([key, value]) =>
      value === null ? [] : [[key, value]],
    ),
  )

/** One machine of one order: who repeats it names the same. */
export const machineIdFor = (clientToken: string): string => `i-${clientToken.slice(0, 17)}`
export const volumeIdFor = (machineId: string): string => machineId.replace(/^i-/, 'vol-')

const GIB = 1024 ** 3
const NANO = 1_000_000_000

/** As much as the type has, and no swap beside it. */
export const limitsOf = (instanceType: string): { NanoCpus: number; Memory: number; MemorySwap: number } => {
  const type = instanceTypeNamed(instanceType)
  if (!type) throw new CloudFault('capacity', 'InvalidInstanceType', `${instanceType} is no type that is known here`)
  const Memory = type.memoryGib * GIB
  return { NanoCpus: type.vcpu * NANO, Memory, MemorySwap: Memory }
}

const SEED = '/var/lib/cloud/seed/nocloud'
const LOOPBACK = '/srv/loopback'
/** Not stopped with the rest: a unit that says that the machine stops says it by this. */
const proxied = (section: string): string => `[Unit]\\nDefaultDependencies=no\\n${section}\\n`

/**
 * Becomes systemd, in a control group hierarchy that is its own, whichever version the machine has, and with mounts that its units
 * see, or they would have no credentials; cloud-init finds its user data where it looks for them on a machine without a metadata service.
 * What the operator has on loopback, of which sockets are laid into a folder, is on the machine's.
 */
const BOOT = `set -eu
mkdir -p ${SEED}
printf %s "$USER_DATA" | base64 -d > ${SEED}/user-data
printf '%s' "$META_DATA" > ${SEED}/meta-data
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount --make-rshared /
units=/run/systemd/system
mkdir -p $units/sockets.target.wants
for socket in ${LOOPBACK}/*; do
  if [ ! -S "$socket" ]; then continue; fi
  port=\${socket##*/}
  printf '${proxied('[Socket]\\nListenStream=127.0.0.1:%s')}' "$port" > "$units/loopback-$port.socket"
  printf '${proxied('[Service]\\nExecStart=/lib/systemd/systemd-socket-proxyd %s')}' "$socket" > "$units/loopback-$port.service"
  ln -s "../loopback-$port.socket" "$units/sockets.target.wants/"
done
exec env -i container=docker PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
`

/** What systemd needs beyond a container's own; the devices of the machine are none of it. */
const CAPABILITIES = ['SYS_ADMIN', 'NET_ADMIN', 'SYS_PTRACE']
const USER_DATA = 'USER_DATA='

const environmentOf = (machineId: string, { userData }: MachineOrder, authorizedKey: string): string[] => {
  const metaData = JSON.stringify({ 'instance-id': machineId, 'public-keys': [authorizedKey] })
  return [`${USER_DATA}${userData.toString('base64')}`, `META_DATA=${metaData}`]
}

/** What it was launched with, as the container's environment has it: that never changes. */
export const userDataIn = (environment: readonly string[]): Buffer =>
  Buffer.from(environment.find((one) => one.startsWith(USER_DATA))?.slice(USER_DATA.length) ?? '', 'base64')

export type ContainerSettings = { image: string; network: string; authorizedKey: string; loopback: string }

/** The body that makes it; its volume comes into being with it, or neither does. */
export const containerOf = (order: MachineOrder, settings: ContainerSettings): object => {
  const { clientToken, tags, instanceType, diskGb } = order
  const machineId = machineIdFor(clientToken)
  const madeAs = nameOf({ machineId, instanceType, diskGb, label: tags.label })
  const labels = { ...labelsOf(tags), [MACHINE_LABEL]: machineId, [MADE_AS_LABEL]: madeAs }
  return {
    Image: settings.image,
    Cmd: ['/bin/sh', '-c', BOOT],
    Env: environmentOf(machineId, order, settings.authorizedKey),
    Labels: labels,
    // its console, which Docker keeps
    Tty: true,
    StopSignal: 'SIGRTMIN+3',
    HostConfig: {
      ...limitsOf(instanceType),
      NetworkMode: settings.network,
      CgroupnsMode: 'private',
      CapAdd: CAPABILITIES,
      SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
      // what stops itself stays stopped
      RestartPolicy: { Name: 'no' },
      Tmpfs: { '/run': 'exec,mode=755', '/run/lock': '', '/tmp': 'exec' },
      Mounts: [
        { Type: 'volume', Source: volumeIdFor(machineId), Target: '/home', VolumeOptions: { Labels: labels } },
        ...(settings.loopback === ''
          ? []
          : [{ Type: 'bind', Source: settings.loopback, Target: LOOPBACK, ReadOnly: true }]),
      ],
    },
  }
}
