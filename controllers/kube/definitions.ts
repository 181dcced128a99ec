/** Installs and removes the CustomResourceDefinitions: what `kubectl apply -f crds` does, from inside the cluster. */
import { setTimeout as sleep } from 'node:timers/promises'
import { manifestOf } from '../../crds/kernel/manifest.ts'
import { KINDS } from '../../crds/kinds.ts'
import { isNotFound } from '../base/errors.ts'
import type { Kube } from './kube.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'
/** Owns the fields, as `hack/up` does: the last writer wins, and a conflict with kubectl stops nothing. */
const QUERY = 'fieldManager=bottega-setup&force=true'
const ESTABLISHED_MS = 60_000
/** Controllers first take back what resources have put up on hosts. */
const REMOVED_MS = 10 * 60_000
const POLL_MS = 250
/** The API server waits up to minutes between its tries to take resources away, and tries at once when the definition changes. */
const NUDGE_EVERY_MS = 3_000
const NUDGED = 'bottega.dev/removal-awaited-at'

type Definition = { status?: { conditions?: { type: string; status: string }[] } }

const names = (): string[] => KINDS.map((kind) => manifestOf(kind).metadata.name)

const pathOf = (name: string): string => `${DEFINITIONS}/${name}`

/** Polls until nothing is left. @throws Error that names what is */
const until = async (what: string, left: () => Promise<string[]>, limitMs: number): Promise<void> => {
  const endAt = performance.now() + limitMs
  for (let waiting = await left(); waiting.length > 0; waiting = await left()) {
    if (performance.now() > endAt) throw new Error(`Not ${what} after ${limitMs / 1000} s: ${waiting.join(', ')}`)
    await sleep(POLL_MS)
  }
}

/** The names of which `isOpen` is true. */
const open = async (isOpen: (name: string) => Promise<boolean>): Promise<string[]> => {
  const answers = await Promise.all(names().map(async (name) => ((await isOpen(name)) ? [name] : [])))
  return answers.flat()
}

/** Applies every definition and waits until each is served. @throws KubeError, or Error when one is not in time */
export const applyDefinitions = async (kube: Pick<Kube, 'raw'>): Promise<string[]> => {
  for (const manifest of KINDS.map(manifestOf)) {
    await kube.raw('PATCH', pathOf(manifest.metadata.name), manifest, { query: QUERY, contentType: APPLY })
  }
  const isPending = async (name: string) => {
    const { status } = await kube.raw<Definition>('GET', pathOf(name))
    return !status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True')
  }
  await until('established', () => open(isPending), ESTABLISHED_MS)
  return names()
}

/** @returns whether it is there */
const ifPresent = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error) => {
      if (isNotFound(error)) return false
      throw error
    },
  )

/** Changes what is on its way out, so that its removal is tried now. */
const nudge = (kube: Pick<Kube, 'raw'>, name: string): Promise<boolean> => {
  const metadata = { annotations: { [NUDGED]: new Date().toISOString() } }
  return ifPresent(kube.raw('PATCH', pathOf(name), { metadata }, { contentType: MERGE }))
}

/**
 * Removes every definition, and with it every resource of that kind in the cluster; returns when all have gone.
 * @throws KubeError, or Error when finalizers keep resources for too long
 */
export const removeDefinitions = async (kube: Pick<Kube, 'raw'>): Promise<string[]> => {
  for (const name of names()) await ifPresent(kube.raw('DELETE', pathOf(name)))
  let nudgedAt = performance.now()
  const left = async (): Promise<string[]> => {
    const waiting = await open((name) => ifPresent(kube.raw('GET', pathOf(name))))
    if (performance.now() - nudgedAt < NUDGE_EVERY_MS) return waiting
    nudgedAt = performance.now()
    for (const name of waiting) await nudge(kube, name)
    return waiting
  }
  await until('removed', left, REMOVED_MS)
  return names()
}
