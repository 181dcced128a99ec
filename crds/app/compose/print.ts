/**
 * The documents that Compose runs on the host, in JSON (which is YAML), the same bytes for the same project.
 * They hold values of the app's env: whoever keeps them keeps them sealed, whoever uploads them does so with mode 0600.
 */
import type { Project } from './project.ts'

/** One `docker compose -p <project> -f <file>`. */
export type ComposeDocument = { project: string; text: string }

export type Printed = {
  /** `build`: run in the folder of the release's source. Null when nothing is to be built. */
  build: ComposeDocument | null
  /** Null when no service is stateful. Files it mounts lie under `files/`, see `baseFiles`. */
  base: ComposeDocument | null
  /** Null when every service is stateful. */
  release: ComposeDocument | null
  /** What the base mounts, by content: copy `from` in the source to `to` beside the base's document. */
  baseFiles: { from: string; to: string }[]
  /** Who takes the visitors: ask `docker compose port <service> <port>`; Docker chooses the port on 127.0.0.1 at each start. */
  routed: { document: 'base' | 'release'; service: string; port: number }
}

export type PrintProject = (project: Project, release: number) => Printed
