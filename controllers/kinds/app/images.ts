/** The images of a release: whether the host has them, and the job that makes them. */

import { budgetOf } from '../../../crds/app/lifecycle/keeping/budget.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { filesFor, imageRequests, type SealedRelease } from '../../../crds/app/sealed.ts'
import type { Operation, Release } from '../../../crds/app/world.ts'
import { REGISTRIES } from '../../../crds/host/builds.ts'
import { keepsApart } from '../../../crds/host/isolation.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { Stalled } from '../../base/errors.ts'
import type { Job } from '../../io/hosts/hosts.ts'
import type { Hosts, LinkedHostFacts } from '../../io/hosts/link.ts'
import { imagesJob } from './jobs.ts'
import type { Releases } from './release.ts'
import { IMAGES_HERE } from './scripts.ts'

const LOOK_DEADLINE_MS = 15_000

type ImagesDeps = { hosts: Hosts; releases: Pick<Releases, 'listingFor' | 'keysFor'> }

/**
 * A host that names neither registries nor packages takes from those that the account has logins for, too: where packages are named nobody
 * adds to what builds reach by writing a login.
 */
export const registriesFor = (
  { registries, packages }: Pick<LinkedHostFacts['builds'], 'registries' | 'packages'>,
  opened: readonly string[],
): readonly string[] =>
  registries === REGISTRIES && packages === null ? [...new Set([...registries, ...opened])] : registries

export const makeImages = ({ hosts, releases }: ImagesDeps) => {
  /** What the job for images would say, when all of them are there. */
  const here = async ({ spec }: AppResource, sealed: SealedRelease, release: Release): Promise<string | null> => {
    const names = imageRequests(sealed).map(({ name }) => name)
    const lines = [spec.slug, String(release.number), names.join(' ')]
    const { code, stdout } = await hosts.link(spec.hostId).run({
      script: IMAGES_HERE,
      lines,
      deadlineMs: LOOK_DEADLINE_MS,
      lane: 'status',
    })
    return code === 0 ? stdout.toString('utf8') : null
  }

  type Given = { operation: Operation; release: Release }
  const job = async (app: AppResource, sealed: SealedRelease, given: Given): Promise<Job> => {
    const isNeeded = filesFor(sealed) !== 'none'
    const listing = isNeeded ? await releases.listingFor(app.spec.account, given.release.source) : ''
    const { metadata, spec } = app
    const { keys, opened } = await releases.keysFor(spec.account, sealed)
    const facts = hosts.facts(spec.hostId)
    if (!facts) throw new Stalled('HOST_MISSING', `HOST_MISSING: there is no host ${spec.hostId}`)
    const { builder, gate, packages } = facts.builds
    const cell = {
      builder,
      registries: registriesFor(facts.builds, opened),
      gate: packages && { image: gate, packages },
      origin: originOf(metadata),
      budget: budgetOf(spec.budget, facts.budget),
      isGuarded: keepsApart(facts),
    }
    return imagesJob(spec, sealed, { ...given, listing, keys, cell })
  }

  return { here, job }
}
