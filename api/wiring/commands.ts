/** Every command, by its name: whoever is asked for a verdict looks here how it is judged. */
import { accountCommands } from '../account/admin.ts'
import { appCommands } from '../app/commands.ts'
import type { Command, CommandGoal } from '../command/command.ts'
import { type Commands, outcomeOf, readOperation } from '../command/operation.ts'
import { devInstanceCommands } from '../devinstance/commands.ts'
import { hostCommands } from '../host/commands.ts'
import type { OutcomeOf } from '../http/stages/idempotency.ts'
import { invoiceCommands } from '../invoice/commands.ts'
import { siteCommands } from '../site/commands.ts'
import type { Deps } from './deps.ts'

const all: readonly Command<CommandGoal, unknown, Deps>[] = [
  ...invoiceCommands,
  ...appCommands,
  ...siteCommands,
  ...hostCommands,
  ...accountCommands,
  ...devInstanceCommands,
]

export const commands: Commands<Deps> = new Map(all.map((command) => [command.name, command]))

/** How what was answered 202 has ended, for the retries of its request. */
export const makeOutcomeOf =
  (deps: Deps): OutcomeOf =>
  async (id, caller) =>
    outcomeOf(await readOperation(deps, commands, { id, caller }))
