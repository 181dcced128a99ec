/** Every command, by its name: whoever is asked for a verdict looks here how it is judged. */
import type { Command } from '../command/command.ts'
import type { Commands } from '../command/operation.ts'
import { invoiceCommands } from '../invoice/commands.ts'
import { siteCommands } from '../site/commands.ts'

const all: readonly Command[] = [...invoiceCommands, ...siteCommands]

export const commands: Commands = new Map(all.map((command) => [command.name, command]))
