/** A project that says by a Dockerfile how it is built, and nothing else. */
import { type Recogniser, written } from './project.ts'

/** What a Dockerfile without EXPOSE is told to listen on. */
const PORT_DEFAULT = 8_080

/** The first port that its last stage exposes. */
const exposedPort = (text: string): number | null => {
  const stages = text.split(/^[ \t]{0,20}FROM[ \t]/im)
  const lines = (stages.at(-1) ?? '').split('\n').map((line) => line.trim())
  const ports = lines.flatMap((line) => /^EXPOSE[ \t]{1,20}(\d{1,5})(?:\/tcp)?(?:[ \t]|$)/i.exec(line)?.[1] ?? [])
  const port = Number(ports[0])
  return port >= 1 && port <= 65_535 ? port : null
}

export const recogniseDockerfile: Recogniser = (files) => {
  const recipe = [...files.paths].find((path) => /^dockerfile$/i.test(path))
  if (recipe === undefined) return { missed: 'a Dockerfile at the root' }
  const port = exposedPort(files.texts.get(recipe) ?? '')
  const said = port === null ? `no EXPOSE: it is told PORT=${PORT_DEFAULT}` : `EXPOSE ${port}`
  const why = [`${recipe} says how it is built.`, `Visitors go to port ${port ?? PORT_DEFAULT} (${said}).`]
  return written(files, { kind: 'dockerfile', why, port: port ?? PORT_DEFAULT, dockerfile: null, recipe })
}
