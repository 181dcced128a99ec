import { join } from 'node:path'

/** Where the node keeps everything, and what it is called by on the machine. There is one per machine, so all is fixed. */

/** Short, because it holds unix sockets, whose paths end at 108 bytes. */
export const nodeDir = '/tmp/bottega-node'

/** What is set up on the node for one command: goes with it. */
export const stageDir = '/tmp/bottega-cluster'

const at = (...names: string[]) => join(nodeDir, ...names)

export const places = {
  note: at('note.json'),
  plane: at('plane'),
  pki: at('plane', 'pki'),
  logs: at('log'),
  kubelet: at('kubelet'),
  kubeletConfig: at('kubelet.json'),
  podLogs: at('pod-logs'),
  resolvConf: at('resolv.conf'),
  volumePlugins: at('volume-plugins'),
  plugins: at('cni'),
  addresses: at('ipam'),
  containerd: at('containerd'),
  containerdConfig: at('containerd.toml'),
  containerdState: at('run'),
  containerdSocket: at('run', 'c.sock'),
  containerdTtrpc: at('run', 'c.ttrpc'),
  tasks: at('run', 'ctrd', 'io.containerd.runtime.v2.task', 'k8s.io'),
  corefile: at('Corefile'),
  kubeconfig: (name: string) => at(`${name}.kubeconfig`),
} as const

export const nodeName = 'bottega-node'
/** The machine's own address on a bridge without ports: nothing of the node listens on an outside interface. */
export const nodeAddress = '10.200.0.1'
export const podCidr = '10.244.0.0/24'
export const serviceCidr = '10.96.0.0/16'
export const clusterDomain = 'cluster.local'

/** Names on the machine: of the pods' network, of its bridge, of the bridge that holds the address, of the cgroup. */
export const network = 'bottega'
export const podBridge = 'btg-br'
export const addressBridge = 'btg-ip'
export const cgroup = 'bottega'
/** Comment of the rules that let pods' packets pass. */
export const forwardComment = 'bottega-pods'
/** What the network plugins write into the comments of theirs, as `iptables -S` shows it. */
export const pluginComment = `name: \\"${network}\\"`

/** Where the network plugins of Debian lie, and where they keep what they did. */
export const pluginFolder = '/usr/lib/cni'
export const pluginResults = '/var/lib/cni/results'

/** The image that holds a pod's name space open. */
export const pauseImage = 'local/pause:1'
