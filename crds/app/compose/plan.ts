/** What a deploy would do, before it does anything (research/sites-apps.md 4, item 4: a plan that predicts). */
import type { Finding } from './finding.ts'
import type { Limits, Project } from './project.ts'

/** What has to be remembered of a release to plan the next one. Digests are of configuration with env: keep them sealed. */
export type ReleaseSummary = {
  services: { name: string; stateful: boolean; digest: string }[]
  volumes: { name: string; mounts: string[] }[]
}

export type ServicePlan = {
  name: string
  stateful: boolean
  action: 'keep' | 'recreate' | 'replace' | 'add' | 'remove'
  /** At most; 0 for what is started beside the old one. */
  downtimeSeconds: number
  limits: Limits | null
}

export type DeployPlan = {
  services: ServicePlan[]
  volumes: { name: string; action: 'keep' | 'new' | 'left'; detail: string }[]
  images: string[]
  builds: { service: string; context: string; image: string }[]
  env: { used: string[]; missing: string[] }
  /** A volume that would be left behind is a refusal until it is confirmed by name. */
  findings: Finding[]
}

export type SummariseRelease = (project: Project) => ReleaseSummary
export type PlanRelease = (
  previous: ReleaseSummary | null,
  next: { project: Project; warnings: Finding[]; composePath: string },
  confirmedVolumes: readonly string[],
) => DeployPlan
