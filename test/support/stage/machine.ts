import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { attempt } from '../../../hack/lib/command.ts'
import { readSettings } from '../../../hack/stage/node/kernel.ts'
import { nodeDir } from '../../../hack/stage/node/place.ts'

/**
 * What a Kubernetes node could leave on a machine: packet rules, links, mounts, control groups, name spaces, files,
 * processes and kernel settings.
 */
export type Look = { lines: Record<string, string[]>; hasDocker: boolean }

const folders = [
  '/var/lib/cni',
  '/var/lib/kubelet',
  '/var/log/containers',
  '/var/log/pods',
  '/run/containerd',
  '/run/netns',
]

/** A Docker daemon that somebody starts or stops meanwhile (`hack/up --with hosts` has its own) is none of the node's. */
const isForeign = (line: string): boolean =>
  /docker|moby|\bbr-[0-9a-f]{12}\b|\bbt-|BOTTEGA-|\bbtg[0-9a-f]{8}|\/bottega-[0-9a-f]{8}\b/i.test(line)
/** Docker and a node both use these, each as it comes. */
const isShared = (line: string): boolean => /^\/run\/(containerd|netns)(\/|$)|^net\/|^veth/.test(line)

const own = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '' && !isForeign(line))

export const lookAtMachine = (): Look => ({
  hasDocker: programs().some(({ name }) => name === 'dockerd'),
  lines: {
    rules: ['iptables', 'ip6tables'].flatMap((program) =>
      ['nat', 'filter', 'mangle'].flatMap((table) =>
        own(attempt(program, ['-t', table, '-S']).stdout)
          .filter((line) => !line.startsWith('-P'))
          .map((line) => `${program} ${table} ${line}`),
      ),
    ),
    links: own(attempt('ip', ['-o', 'link', 'show']).stdout).map((line) => /^\d+: ([^:@]+)/.exec(line)?.[1] ?? line),
    mounts: own(readFileSync('/proc/self/mountinfo', 'utf8')).map((line) => line.split(' ')[4] ?? line),
    groups: globSync(['/sys/fs/cgroup/*/', '/sys/fs/cgroup/*/*/']).filter((path) => !isForeign(path)),
    files: [nodeDir, ...folders.map((folder) => join(folder, '**'))]
      .flatMap((pattern) => globSync(pattern))
      .filter((path) => !isForeign(path)),
    processes: programs().flatMap(({ pid, args }) => (args.includes(`${nodeDir}/`) ? [pid] : [])),
    settings: Object.entries(readSettings()).map(([name, value]) => `${name}=${value}`),
  },
})

const programs = (): { pid: string; name: string; args: string }[] =>
  readdirSync('/proc').flatMap((pid) => {
    const args = /^\d+$/.test(pid) ? argumentsOf(pid) : ''
    return args === '' ? [] : [{ pid, args, name: basename(args.split('\0')[0] ?? '') }]
  })

const argumentsOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // it ended meanwhile
  }
}

/** What the second look has more and less than the first, in words; empty when nothing was left and nothing taken. */
export const difference = (before: Look, after: Look): string[] => {
  const isOurs = (line: string) => !((before.hasDocker || after.hasDocker) && isShared(line))
  return Object.keys(before.lines).flatMap((part) => {
    const [was, is] = [before, after].map(({ lines }) => (lines[part] ?? []).filter(isOurs))
    const more = is?.filter((line) => !was?.includes(line)) ?? []
    const less = was?.filter((line) => !is?.includes(line)) ?? []
    return [...more.map((line) => `${part}: + ${line}`), ...less.map((line) => `${part}: - ${line}`)]
  })
}
