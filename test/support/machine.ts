import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../hack/lib/command.ts'
import { readSettings } from '../../hack/lib/node/kernel.ts'
import { nodeDir } from '../../hack/lib/node/place.ts'

/**
 * What a Kubernetes node could leave on a machine: packet rules, links, mounts, control groups, name spaces, files,
 * processes and kernel settings. Two looks are equal when it left nothing.
 */
export type Look = Record<string, string[]>

const folders = [
  '/var/lib/cni',
  '/var/lib/kubelet',
  '/var/log/containers',
  '/var/log/pods',
  '/run/containerd',
  '/run/netns',
]

/** A Docker daemon that somebody starts or stops meanwhile (`hack/up --with hosts` has its own) is none of the node's. */
const isForeign = (line: string): boolean => /docker|moby|\bbr-[0-9a-f]{12}\b|\bbtg[0-9a-f]{8}/i.test(line)

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '' && !isForeign(line))

export const lookAtMachine = (): Look => ({
  rules: ['iptables', 'ip6tables'].flatMap((program) =>
    ['nat', 'filter', 'mangle'].flatMap((table) =>
      lines(attempt(program, ['-t', table, '-S']).stdout)
        .filter((line) => !line.startsWith('-P'))
        .map((line) => `${program} ${table} ${line}`),
    ),
  ),
  links: lines(attempt('ip', ['-o', 'link', 'show']).stdout)
    .map((line) => /^\d+: ([^:@]+)/.exec(line)?.[1] ?? line)
    .sort(),
  mounts: lines(readFileSync('/proc/self/mountinfo', 'utf8'))
    .map((line) => line.split(' ')[4] ?? line)
    .sort(),
  groups: globSync(['/sys/fs/cgroup/*/', '/sys/fs/cgroup/*/*/'])
    .filter((path) => !isForeign(path))
    .sort(),
  files: folders
    .flatMap((folder) => globSync(join(folder, '**')))
    .filter((path) => !isForeign(path))
    .sort(),
  node: globSync(nodeDir),
  processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(`${nodeDir}/`)),
  settings: Object.entries(readSettings())
    .filter(([name]) => !name.startsWith('net/') || !attempt('ip', ['link', 'show', 'docker0']).ok)
    .map(([name, value]) => `${name}=${value}`),
})

const argumentsOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // it ended meanwhile
  }
}
