import { join } from 'node:path'
import type { Certificate } from '../../platform/pki.ts'
import {
  cgroup,
  clusterDomain,
  network,
  nodeAddress,
  nodeName,
  pauseImage,
  places,
  pluginFolder,
  podBridge,
  podCidr,
  serviceCidr,
} from './place.ts'

/** The settings of the parts of the node. */

/** Each part is its own identity towards the API server, with the rights that Kubernetes gives that identity. */
export const identities: readonly Certificate[] = [
  { name: 'kcm', subject: '/CN=system:kube-controller-manager' },
  { name: 'scheduler', subject: '/CN=system:kube-scheduler' },
  {
    name: 'kubelet',
    subject: `/O=system:nodes/CN=system:node:${nodeName}`,
    servesAs: [`DNS:${nodeName}`, `IP:${nodeAddress}`],
  },
  { name: 'kube-proxy', subject: '/CN=system:kube-proxy' },
  { name: 'coredns', subject: '/CN=system:coredns' },
]

/** Beside the flags of a lone API server (controlplane.ts). */
export const apiserverFlags = (pki: string): Record<string, string | null> => ({
  'service-cluster-ip-range': serviceCidr,
  'authorization-mode': 'Node,RBAC',
  'enable-admission-plugins': 'NodeRestriction',
  'disable-admission-plugins': null,
  'endpoint-reconciler-type': null,
  'kubelet-preferred-address-types': 'InternalIP',
  'kubelet-certificate-authority': join(pki, 'ca.crt'),
  'kubelet-client-certificate': join(pki, 'admin.crt'),
  'kubelet-client-key': join(pki, 'admin.key'),
})

/** Debian's containerd, with a root and a socket of its own: it lives beside a Docker daemon. */
export const containerdConfig = `version = 2
root = "${places.containerd}"
state = "${join(places.containerdState, 'ctrd')}"
oom_score = 0
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.tracing"]
[grpc]
  address = "${places.containerdSocket}"
[ttrpc]
  address = "${places.containerdTtrpc}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # without CAP_SYS_RESOURCE no score may be lowered, and every container would fail over it
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${pluginFolder}"
    conf_dir = "${places.plugins}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`

export const pluginConfig = JSON.stringify({
  cniVersion: '0.4.0',
  name: network,
  plugins: [
    {
      type: 'bridge',
      bridge: podBridge,
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        dataDir: places.addresses,
        ranges: [[{ subnet: podCidr }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ],
})

export const kubeletConfig = JSON.stringify({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: nodeAddress,
  healthzPort: 0,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${cgroup}`,
  failCgroupV1: false,
  failSwapOn: false,
  oomScoreAdj: 0,
  containerRuntimeEndpoint: `unix://${places.containerdSocket}`,
  clusterDomain,
  clusterDNS: [nodeAddress],
  resolvConf: places.resolvConf,
  podLogsDir: places.podLogs,
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: join(places.pki, 'ca.crt') },
  },
  authorization: { mode: 'Webhook' },
  tlsCertFile: join(places.pki, 'kubelet.crt'),
  tlsPrivateKeyFile: join(places.pki, 'kubelet.key'),
  // images are imported, never pulled: one that was cleared away could not come back
  imageGCHighThresholdPercent: 100,
  imageGCLowThresholdPercent: 99,
  evictionHard: { 'nodefs.available': '1%', 'imagefs.available': '1%', 'memory.available': '100Mi' },
  volumePluginDir: places.volumePlugins,
  syncFrequency: '10s',
})

/** CoreDNS runs its plugins in a fixed order, `template` before `kubernetes`: hence two blocks. The second fails fast. */
export const corefile = `${clusterDomain}:53 in-addr.arpa:53 {
  bind ${nodeAddress}
  errors
  kubernetes ${clusterDomain} in-addr.arpa {
    kubeconfig ${places.kubeconfig('coredns')} bottega
    ttl 5
  }
}
.:53 {
  bind ${nodeAddress}
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`

const rbac = 'rbac.authorization.k8s.io'

/** Kubernetes knows the rights of the others by name; those of CoreDNS come with its usual manifests. */
export const dnsRights = [
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'system:coredns' },
    rules: [
      { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'system:coredns' }],
  },
]

export const kcmFlags: Record<string, string> = {
  'secure-port': '0',
  'leader-elect': 'false',
  'service-account-private-key-file': join(places.pki, 'sa.key'),
  'root-ca-file': join(places.pki, 'ca.crt'),
  'use-service-account-credentials': 'true',
  'pvclaimbinder-sync-period': '2s',
}

export const schedulerFlags: Record<string, string> = { 'secure-port': '0', 'leader-elect': 'false' }

export const kubeletFlags: Record<string, string> = {
  config: places.kubeletConfig,
  'hostname-override': nodeName,
  'node-ip': nodeAddress,
  'root-dir': places.kubelet,
  'cert-dir': places.pki,
}

export const kubeProxyFlags: Record<string, string> = {
  'cluster-cidr': podCidr,
  'hostname-override': nodeName,
  'proxy-mode': 'iptables',
  // it would write settings that no namespace may write, and end over it
  'conntrack-max-per-core': '0',
  'conntrack-tcp-timeout-established': '0',
  'conntrack-tcp-timeout-close-wait': '0',
  'oom-score-adj': '0',
  'nodeport-addresses': 'primary',
  'healthz-bind-address': '127.0.0.1:10256',
  'metrics-bind-address': '127.0.0.1:10249',
}
