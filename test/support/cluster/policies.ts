/**
 * What a network that enforces policies does to what one pod sends, by packet rules of this machine: the node's own network lets
 * everything through. As with such a network, the address of a Service has been translated before a rule is looked at.
 */
import { attempt, run } from '../../../hack/lib/command.ts'

type Port = { port?: number | string; protocol?: string }
type Peer = { ipBlock?: { cidr: string; except?: string[] }; podSelector?: { matchLabels?: Record<string, string> } }
export type EgressRule = { ports?: Port[]; to?: Peer[] }

export type Enforcing = {
  podIp: string
  egress: readonly EgressRule[]
  /** Addresses of the pods that bear all these labels. */
  podsWith(labels: Record<string, string>): Promise<string[]>
  /** What containers call a port. */
  portNamed(name: string): number
}

const CHAIN = 'BTG-EGRESS'
const HOOKS = ['INPUT', 'FORWARD'] as const
const iptables = (...args: string[]) => run('iptables', ['-w', ...args])

/** What is not there is no fault: it is lifted however far it came. */
const away = (...args: string[]) => attempt('iptables', ['-w', ...args])

const matchOf = ({ port, protocol = 'TCP' }: Port, portNamed: Enforcing['portNamed']): string[] => {
  const number = typeof port === 'string' ? portNamed(port) : port
  const name = protocol.toLowerCase()
  return ['-p', name, ...(number === undefined ? [] : ['-m', name, '--dport', String(number)])]
}

const isOfFour = (cidr: string): boolean => !cidr.includes(':')

/** Addresses that are let through, and what of them is not. */
const peersOf = async ({ ipBlock, podSelector }: Peer, podsWith: Enforcing['podsWith']) => {
  if (ipBlock)
    return isOfFour(ipBlock.cidr) ? [{ cidr: ipBlock.cidr, except: (ipBlock.except ?? []).filter(isOfFour) }] : []
  const pods = await podsWith(podSelector?.matchLabels ?? {})
  return pods.map((address) => ({ cidr: `${address}/32`, except: [] as string[] }))
}

/** @returns what lets everything through again */
export const enforceEgress = async ({ podIp, egress, podsWith, portNamed }: Enforcing): Promise<() => void> => {
  let chains = 0
  const lift = () => {
    for (const hook of HOOKS) away('-D', hook, '-s', podIp, '-j', CHAIN)
    away('-F', CHAIN)
    for (let at = 0; at < chains; at += 1) for (const verb of ['-F', '-X']) away(verb, `${CHAIN}-${at}`)
    away('-X', CHAIN)
  }
  lift()
  iptables('-N', CHAIN)
  // answers to whoever asked the pod, as the probes of the node
  iptables('-A', CHAIN, '-m', 'conntrack', '--ctstate', 'ESTABLISHED,RELATED', '-j', 'ACCEPT')
  for (const { ports = [{}], to } of egress) {
    const peers = to === undefined ? [{ cidr: '0.0.0.0/0', except: [] }] : []
    for (const peer of to ?? []) peers.push(...((await peersOf(peer, podsWith)) as typeof peers))
    for (const { cidr, except } of peers) {
      const chain = `${CHAIN}-${chains}`
      chains += 1
      iptables('-N', chain)
      for (const one of except) iptables('-A', chain, '-d', one, '-j', 'RETURN')
      for (const port of ports) iptables('-A', chain, '-d', cidr, ...matchOf(port, portNamed), '-j', 'ACCEPT')
      iptables('-A', CHAIN, '-j', chain)
    }
  }
  iptables('-A', CHAIN, '-j', 'REJECT')
  for (const hook of HOOKS) iptables('-I', hook, '-s', podIp, '-j', CHAIN)
  return lift
}
