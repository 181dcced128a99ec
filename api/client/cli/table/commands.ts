/** What the client knows to do. */
import described from './openapi-commands.json' with { type: 'json' }
import { commandsFor, type DescribedSurfaces } from './surfaces.ts'
import type { CliCommand } from './table.ts'

export const COMMANDS: readonly CliCommand[] = commandsFor(described as unknown as DescribedSurfaces)
