/**
 * What a restart of a host's Docker does to its apps (rules/host.md#a-restart-of-docker, hack/decisions/101). A host where it does
 * something serves all the same, and is told. Pure.
 */

export const ENGINE_RESTARTS = ['whole', 'cut', 'ends'] as const
export type EngineRestart = (typeof ENGINE_RESTARTS)[number]

export const ENGINE_RESTART = {
  type: 'string',
  description:
    'What a restart of its Docker does to apps. whole: nothing is cut. cut: WebSockets, event streams and uploads are. ends: all apps stop until it is back.',
  enum: ENGINE_RESTARTS,
} as const

/** `livesOn`: containers go on without the engine (live-restore). `hasLinks`: links of containers are the host's own, and it has the programs that tell them. */
export type RestartFinding = { livesOn: boolean; hasLinks: boolean }

/** @param host.hasFiles visitors are led by files, for it has a folder of sites @param host.isGuarded the guard of its apps stands, which names their links */
export const engineRestart = (
  { livesOn, hasLinks }: RestartFinding,
  { hasFiles, isGuarded }: { hasFiles: boolean; isGuarded: boolean },
): { does: EngineRestart; detail: string } => {
  if (!livesOn) {
    return {
      does: 'ends',
      detail:
        'a restart of Docker stops all apps until it is back: put "live-restore": true into /etc/docker/daemon.json',
    }
  }
  const lacks = [
    ...(hasFiles ? [] : ['give it a site_root']),
    ...(hasLinks ? [] : ['install iproute2, and have Docker run as root']),
    ...(isGuarded ? [] : ['let the guard of its apps stand']),
  ]
  if (lacks.length === 0) return { does: 'whole', detail: '' }
  return {
    does: 'cut',
    detail: `a restart of Docker cuts WebSockets, event streams and uploads, and lets visitors wait: ${lacks.join('; ')}`,
  }
}
