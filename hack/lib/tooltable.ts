/** The Go-built tools: one go.mod per group in `hack/platform/gotools/<group>/`, all binaries of a group from one `go install`. */
export type ToolGroup = {
  /** Free bytes wanted before a first compile: modules, compile cache and binaries. */
  coldBytes: number
  /** A module that lies in the module cache once the group has been downloaded. */
  probeModule: string
  /** Version stamps. `-X` touches the link step only, so it costs no recompilation. */
  ldflags: readonly string[]
  tools: Readonly<Record<string, { package: string; builtAs: string }>>
}

const kubernetesVersion = 'v1.35.4'
const helmVersion = 'v4.1.4'
const composeVersion = 'v2.40.3'
const caddyVersion = 'v2.11.9'
/** As BUILDER of crds/host/builds.ts names it. */
export const buildkitVersion = 'v0.31.2'
const GiB = 1024 ** 3

/** Without these every Kubernetes binary reports `v0.0.0-master+$Format`, which clients compare and refuse. */
const kubernetesStamp = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((pkg) => [
  `-X ${pkg}.gitVersion=${kubernetesVersion}`,
  `-X ${pkg}.gitMajor=1`,
  `-X ${pkg}.gitMinor=35`,
  `-X ${pkg}.gitTreeState=clean`,
  `-X ${pkg}.buildDate=1970-01-01T00:00:00Z`,
])

const ofKubernetes = (name: string) => ({ package: `k8s.io/kubernetes/cmd/${name}`, builtAs: name })

export const toolGroups: Readonly<Record<string, ToolGroup>> = {
  kubernetes: {
    coldBytes: 8 * GiB,
    probeModule: `k8s.io/kubernetes@${kubernetesVersion}`,
    ldflags: ['-s', '-w', `-X helm.sh/helm/v4/internal/version.version=${helmVersion}`, ...kubernetesStamp],
    tools: {
      'kube-apiserver': ofKubernetes('kube-apiserver'),
      'kube-controller-manager': ofKubernetes('kube-controller-manager'),
      'kube-scheduler': ofKubernetes('kube-scheduler'),
      'kube-proxy': ofKubernetes('kube-proxy'),
      kubelet: ofKubernetes('kubelet'),
      kubectl: ofKubernetes('kubectl'),
      etcd: { package: 'go.etcd.io/etcd/server/v3', builtAs: 'server' },
      coredns: { package: 'github.com/coredns/coredns', builtAs: 'coredns' },
      helm: { package: 'helm.sh/helm/v4/cmd/helm', builtAs: 'helm' },
    },
  },
  /** What an app host runs (compose, caddy) and the ACME test CA with its DNS. */
  hosts: {
    coldBytes: 6 * GiB,
    probeModule: `github.com/docker/compose/v2@${composeVersion}`,
    ldflags: [
      '-s',
      '-w',
      `-X github.com/docker/compose/v2/internal.Version=${composeVersion}`,
      `-X github.com/caddyserver/caddy/v2.CustomVersion=${caddyVersion}`,
    ],
    tools: {
      'docker-compose': { package: 'github.com/docker/compose/v2/cmd', builtAs: 'cmd' },
      caddy: { package: 'github.com/caddyserver/caddy/v2/cmd/caddy', builtAs: 'caddy' },
      pebble: { package: 'github.com/letsencrypt/pebble/v2/cmd/pebble', builtAs: 'pebble' },
      'pebble-challtestsrv': {
        package: 'github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv',
        builtAs: 'pebble-challtestsrv',
      },
    },
  },
  /** What builds images on an app host: what the image moby/buildkit holds, where no registry is in reach. */
  builder: {
    coldBytes: 3 * GiB,
    probeModule: `github.com/moby/buildkit@${buildkitVersion}`,
    ldflags: ['-s', '-w', `-X github.com/moby/buildkit/version.Version=${buildkitVersion}`],
    tools: {
      buildkitd: { package: 'github.com/moby/buildkit/cmd/buildkitd', builtAs: 'buildkitd' },
      buildctl: { package: 'github.com/moby/buildkit/cmd/buildctl', builtAs: 'buildctl' },
    },
  },
  /** The card processor's own mock, which knows whether a request is well formed and remembers nothing. */
  cards: {
    coldBytes: GiB,
    probeModule: 'github.com/stripe/stripe-mock@v0.203.0',
    ldflags: ['-s', '-w'],
    tools: { 'stripe-mock': { package: 'github.com/stripe/stripe-mock', builtAs: 'stripe-mock' } },
  },
  kind: {
    coldBytes: GiB,
    probeModule: 'sigs.k8s.io/kind@v0.33.0',
    ldflags: ['-s', '-w'],
    tools: { kind: { package: 'sigs.k8s.io/kind', builtAs: 'kind' } },
  },
}

/** Tools that are Python programs, by the group whose wheels `hack/lib/python/<group>.txt` pins. */
export const pythonGroups: Readonly<Record<string, readonly string[]>> = {
  /** EC2 by other hands than ours: what is sent and read is held against it. */
  moto: ['moto_server'],
}

/** What `hack/up` and plain `hack/test` need; the rest is built when a part asks for it. */
export const controlPlaneTools = ['etcd', 'kube-apiserver', 'kubectl'] as const

/** What an app host on this machine runs (hack/stage/hoststage.ts). */
export const hostTools = ['docker-compose', 'caddy', 'pebble', 'pebble-challtestsrv', 'buildkitd', 'buildctl'] as const

/** What a Kubernetes node on this machine runs (hack/stage/node/node.ts). */
export const nodeTools = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'coredns',
  'kubectl',
] as const

/** All that some test runs on. */
export const testTools = [
  ...controlPlaneTools,
  ...hostTools,
  ...nodeTools,
  'helm',
  'stripe-mock',
  'moto_server',
] as const
