import { attempt, run } from '../../lib/command.ts'
import { forwardComment, pluginComment, podCidr } from './place.ts'

/** The packet rules of the node: the two that are set here, and all that kubelet, kube-proxy and the plugins left. */

const programs = ['iptables', 'ip6tables'] as const
const tables = ['nat', 'filter', 'mangle'] as const

/**
 * Lets packets from and to pods pass. A Docker daemon on the same machine sets the policy of FORWARD to DROP, and with
 * bridge-nf-call-iptables that hits packets between two pods too.
 */
export function letPodsThrough(): void {
  for (const direction of ['-s', '-d']) {
    run('iptables', ['-I', 'FORWARD', direction, podCidr, '-m', 'comment', '--comment', forwardComment, '-j', 'ACCEPT'])
  }
}

/** Whether some Kubernetes has rules on this machine. */
export function hasKubeRules(): boolean {
  return attempt('iptables', ['-t', 'nat', '-S']).stdout.includes('-N KUBE-')
}

/** Takes away all rules and chains of the node. */
export function removeRules(): void {
  for (const program of programs) {
    for (const table of tables) {
      const { stdout } = attempt(program, ['-t', table, '-S'])
      const orders = removalOf(stdout)
      if (orders.length === 0) continue
      run(`${program}-restore`, ['--noflush'], { input: [`*${table}`, ...orders, 'COMMIT', ''].join('\n') })
    }
  }
}

/** `-A CHAIN …` taken apart. */
type Rule = { chain: string; text: string; target: string | undefined }

/**
 * What rids a table of the node, as lines for `iptables-restore --noflush`: rules first, then the chains, empty. Foreign
 * rules and chains are left alone.
 * @param listing what `iptables -S` printed
 */
export function removalOf(listing: string): string[] {
  const lines = listing.split('\n')
  const rules = lines.flatMap((line): Rule[] => {
    const [, chain, text = ''] = /^-A (\S+)(?: (.*))?$/.exec(line) ?? []
    return chain === undefined ? [] : [{ chain, text, target: /-[jg] (\S+)/.exec(text)?.[1] }]
  })
  const isOurs = ({ text }: Rule) => text.includes(pluginComment) || text.includes(`--comment ${forwardComment} `)
  const chains = lines.flatMap((line) => /^-N (\S+)$/.exec(line)?.[1] ?? [])
  const doomed = chains.filter((name) => {
    if (name.startsWith('KUBE-')) return true
    return name.startsWith('CNI-') && rules.some((rule) => rule.chain === name && isOurs(rule))
  })
  const hooks = rules.filter(
    (rule) => !doomed.includes(rule.chain) && (isOurs(rule) || (rule.target && doomed.includes(rule.target))),
  )
  return [
    ...hooks.map(({ chain, text }) => `-D ${chain} ${text}`),
    ...doomed.map((name) => `-F ${name}`),
    ...doomed.map((name) => `-X ${name}`),
  ]
}
