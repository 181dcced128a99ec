/**
 * What is to be built, as Compose is told: one document for all images of a release.
 *
 * BuildKit keeps the files of each context that it was sent, under the last name in the context's path, and takes anew only
 * those whose size or time differ. Under a folder's own name the contexts of all apps of a host, and two of one upload,
 * would be one. So each context is entered by a link whose name no other build has, and nothing is there to compare with.
 */

import type { Build, Project } from '../project.ts'
import { present } from '../reading/read.ts'
import { insideBundle } from '../reading/validation.ts'
import { type ComposeDocument, type Json, literal, print } from './print.ts'

/** `from`: a folder of the upload, `.` for its root. `to`: the name of the link to it, in `contexts/` beside `source/`. */
export type BuildContext = { from: string; to: string }
export type PrintedBuild = { document: ComposeDocument; contexts: BuildContext[] }

/** Compose joins it to the context's path as text, link or not. */
const recipeFrom = ({ context, dockerfile }: Build): string | undefined => {
  const path = dockerfile === undefined ? undefined : (insideBundle(dockerfile, context) ?? undefined)
  if (path === undefined || context === '.') return path
  return path.startsWith(`${context}/`) ? path.slice(context.length + 1) : `../../source/${path}`
}

const bodyOf = (build: Build, link: string): Json => {
  const { dockerfileInline, target, args, noCache, pull } = build
  return literal({
    context: `./contexts/${link}`,
    ...present({ dockerfile: recipeFrom(build), dockerfile_inline: dockerfileInline, target }),
    args,
    no_cache: noCache,
    pull,
  })
}

/**
 * The images under their final names, for `docker compose build`; null when none is built.
 * @param key of this build and no other, for the names of its contexts
 */
export const printBuild = ({ slug, services }: Project, key: string): PrintedBuild | null => {
  const built = services.flatMap(({ name, image, build }) => (build ? [{ name, image, build }] : []))
  if (built.length === 0) return null
  const named = built.map((one, place) => ({ ...one, link: `${key}-${place}` }))
  const project = `${slug}-build`
  const text = print({
    name: project,
    services: Object.fromEntries(
      named.map(({ name, image, build, link }) => [name, { image, build: bodyOf(build, link) }]),
    ),
  })
  return {
    document: { project, text },
    contexts: named.map(({ build, link }) => ({ from: build.context, to: link })),
  }
}
