/** What is built in a cell, one image after the other: what the builder is told of each (hack/decisions/053). */
import type { Build, Project } from '../project.ts'
import { insideBundle } from '../reading/validation.ts'

export type CellBuild = {
  service: string
  image: string
  /** Folders of the upload, `.` for its root; `recipe` is where the Dockerfile lies. */
  context: string
  recipe: string
  /** The Dockerfile itself, where it is no file of the upload. */
  inline: string | null
  /** For the frontend, as `name=value`. */
  options: string[]
}

/** What the frontend that is built in takes for its own name, so that no line of a Dockerfile sends it to another. */
const OWN_FRONTEND = 'docker/dockerfile'

const placeOf = ({ context, dockerfile }: Build): { recipe: string; filename: string } => {
  const path = dockerfile === undefined ? null : insideBundle(dockerfile, context)
  if (path === null) return { recipe: context, filename: 'Dockerfile' }
  const at = path.lastIndexOf('/')
  return { recipe: at < 0 ? '.' : path.slice(0, at), filename: path.slice(at + 1) }
}

/** The images that are built of a project, in the order of its services. */
export const printCells = ({ services }: Project): CellBuild[] =>
  services.flatMap(({ name, image, build }) => {
    if (!build) return []
    const { recipe, filename } = placeOf(build)
    const options = [
      `cmdline=${OWN_FRONTEND}`,
      `filename=${filename}`,
      ...(build.target === undefined ? [] : [`target=${build.target}`]),
      ...(build.noCache ? ['no-cache='] : []),
      ...(build.pull ? ['image-resolve-mode=pull'] : []),
      ...Object.entries(build.args).map(([arg, value]) => `build-arg:${arg}=${value}`),
    ]
    return [{ service: name, image, context: build.context, recipe, inline: build.dockerfileInline ?? null, options }]
  })

/** One line of stdin that `printf %b` reads as the text. */
export const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

/**
 * Which images a build may take, as BuildKit reads it (docs/build-policies, "Source policies"): the last rule that fits counts.
 * @param registries names of registries, as `ghcr.io`
 */
export const sourcePolicy = (registries: readonly string[]): string => {
  const rule = (action: 'ALLOW' | 'DENY', identifier: string) => ({ action, selector: { identifier } })
  const denied = ['docker-image://*', 'oci-layout://*', 'docker-image+blob://*', 'oci-layout+blob://*']
  const allowed = registries.map((name) => `docker-image://${name}/*`)
  return JSON.stringify({
    rules: [...denied.map((one) => rule('DENY', one)), ...allowed.map((one) => rule('ALLOW', one))],
  })
}
