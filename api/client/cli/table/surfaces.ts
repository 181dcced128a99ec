/** What the client has a table of. Invoices and sites join by a table of their own, and a line here. */
import { APP_SURFACE } from './apps.ts'
import type { DescribedOperation } from './described.ts'
import { DEVBOX_SURFACE } from './devboxes.ts'
import { type CliCommand, commandsOf, type Surface } from './table.ts'

export const SURFACES: readonly Surface[] = [APP_SURFACE, DEVBOX_SURFACE]

/** By the name of a surface. */
export type DescribedSurfaces = Readonly<Record<string, readonly DescribedOperation[]>>

export const commandsFor = (described: DescribedSurfaces): CliCommand[] =>
  SURFACES.flatMap((surface) => commandsOf(surface, described[surface.name] ?? []))
