/**
 * Keys of a compose file that are known and not run, with the reason and what to write instead
 * (rules/app.md#keys-that-are-not-run; the list follows compose-spec 05, 06, 07, "build" and "deploy" as of Compose 2.40).
 */
import type { ReadRefusal } from '../reading/read.ts'

const always = (rule: ReadRefusal['rule'], detail: string, next: string): ReadRefusal => ({
  rule,
  on: 'always',
  detail,
  next,
})
const kept = (rule: ReadRefusal['rule'], detail: string, next: string): ReadRefusal => ({
  rule,
  on: 'kept',
  detail,
  next,
})

const gone = (rule: ReadRefusal['rule'], detail: string): ReadRefusal => ({ rule, on: 'gone', detail, next: '' })

const REMOVE = 'Remove it.'
const namespace = (what: string) =>
  always('host-namespace', `It shares ${what} with others than the container.`, REMOVE)
const device = always('host-access', 'It reaches devices of the host.', REMOVE)
const privileges = kept('privileges', 'It gives the container more than it is run with here.', REMOVE)
const tuning = kept('privileges', 'It changes how the host shares itself out.', 'Use cpus and mem_limit.')
const share = gone('no-effect', 'Nothing is shared out or reserved by weight; limits hold.')
const addresses = kept('outside-network', 'It changes how names are found.', 'Call services of the project by name.')
/** Stripped, an app would run without what they ask of a proxy, a password before it, say: nobody is to find that out later. */
const labels = kept('labels', 'Labels steer proxies and tools on the host.', REMOVE)
const labelsInside = gone('labels', 'Nothing here reads labels of networks, volumes and images.')
const otherFile = always('other-file', 'What runs is read from this one file.', 'Write it out here.')

export const REFUSED_IN_SERVICE: Readonly<Record<string, ReadRefusal>> = {
  privileged: always('privileges', 'A privileged container is root on the host.', REMOVE),
  sysctls: privileges,
  credential_spec: privileges,
  group_add: privileges,
  oom_kill_disable: tuning,
  oom_score_adj: tuning,
  blkio_config: tuning,
  cpu_count: tuning,
  cpu_percent: tuning,
  cpu_period: tuning,
  cpu_quota: tuning,
  cpu_rt_period: tuning,
  cpu_rt_runtime: tuning,
  cpu_shares: share,
  cpuset: tuning,
  mem_reservation: share,
  mem_swappiness: tuning,
  memswap_limit: tuning,
  devices: device,
  device_cgroup_rules: device,
  gpus: device,
  use_api_socket: always('docker-socket', 'It hands the Docker socket to the container.', REMOVE),
  provider: always('host-access', 'It runs a program of the host.', 'Run it as a container.'),
  post_start: always('host-access', 'Hooks may run with more rights than the container.', 'Do it in the entrypoint.'),
  pre_stop: always('host-access', 'Hooks may run with more rights than the container.', 'Do it on the stop signal.'),
  pid: namespace('processes'),
  uts: namespace('the host name'),
  userns_mode: namespace('users'),
  cgroup_parent: namespace('a control group'),
  isolation: privileges,
  runtime: kept('privileges', 'Another runtime is not what the rules were made for.', REMOVE),
  storage_opt: privileges,
  volumes_from: always(
    'outside-volume',
    'It takes the volumes of another container.',
    'Name the volume in both services.',
  ),
  external_links: always('outside-network', 'It reaches containers of other projects.', REMOVE),
  extra_hosts: addresses,
  dns: addresses,
  dns_opt: addresses,
  dns_search: addresses,
  domainname: addresses,
  mac_address: addresses,
  labels,
  label_file: labels,
  annotations: labels,
  models: always('host-access', 'Models run on the host.', REMOVE),
  extends: otherFile,
}

const buildRights = always('remote-build', 'It gives the build more than the files of the upload.', REMOVE)
const cache = always('remote-build', 'Builds use the cache of their host only.', REMOVE)

export const REFUSED_IN_BUILD: Readonly<Record<string, ReadRefusal>> = {
  network: always('remote-build', 'Builds run on the network that Docker gives them.', REMOVE),
  ssh: buildRights,
  secrets: buildRights,
  privileged: buildRights,
  entitlements: buildRights,
  isolation: buildRights,
  extra_hosts: buildRights,
  additional_contexts: buildRights,
  shm_size: buildRights,
  ulimits: buildRights,
  cache_from: cache,
  cache_to: cache,
  labels: labelsInside,
  tags: always('fixed-name', 'A built image is named here by what it was built from.', REMOVE),
  sbom: gone('no-effect', 'No registry takes the image.'),
  provenance: gone('no-effect', 'No registry takes the image.'),
}

const swarm = gone('no-effect', 'It is for a swarm; Compose reads past it, and so is it here.')

export const REFUSED_IN_DEPLOY: Readonly<Record<string, ReadRefusal>> = {
  endpoint_mode: swarm,
  placement: swarm,
  update_config: swarm,
  rollback_config: swarm,
  labels: swarm,
}

const fixedVolume = 'Volumes are named here, by the app and by the key, and keep that name.'

export const REFUSED_IN_VOLUME: Readonly<Record<string, ReadRefusal>> = {
  external: always('outside-volume', 'The volume belongs to another project.', REMOVE),
  name: always('outside-volume', fixedVolume, REMOVE),
  driver_opts: always('outside-volume', 'Driver options can mount any place of the host.', REMOVE),
  labels: labelsInside,
}

export const REFUSED_IN_NETWORK: Readonly<Record<string, ReadRefusal>> = {
  external: always('outside-network', 'The network belongs to another project.', REMOVE),
  name: always('outside-network', 'A network that is named can be joined by other projects.', REMOVE),
  driver_opts: always('outside-network', 'Driver options reach the network of the host.', REMOVE),
  ipam: always('outside-network', 'Docker chooses the addresses.', REMOVE),
  attachable: always('outside-network', 'Others could join the network.', REMOVE),
  enable_ipv4: always('outside-network', 'Docker chooses the addresses.', REMOVE),
  enable_ipv6: always('outside-network', 'Docker chooses the addresses.', REMOVE),
  labels: labelsInside,
}

export const REFUSED_IN_PROJECT: Readonly<Record<string, ReadRefusal>> = {
  include: otherFile,
  models: always('host-access', 'Models run on the host.', REMOVE),
}
