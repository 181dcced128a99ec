/** Every command, by its name: whoever is asked for a verdict looks here how it is judged. */
import { accountCommands } from '../account/admin.ts'
import { appCommands } from '../app/commands.ts'
import type { Command } from '../command/command.ts'
import type { Commands } from '../command/operation.ts'
import { devInstanceCommands } from '../devinstance/commands.ts'
import { hostCommands } from '../host/commands.ts'
import { invoiceCommands } from '../invoice/commands.ts'
import { siteCommands } from '../site/commands.ts'

const all: readonly Command[] = [
  ...invoiceCommands,
  ...appCommands,
  ...siteCommands,
  ...hostCommands,
  ...accountCommands,
  ...devInstanceCommands,
]

export const commands: Commands = new Map(all.map((command) => [command.name, command]))
