import { runCommand } from '../lib/refusal.ts'
import { runSetup } from '../platform/setupscript.ts'

await runCommand(async () => runSetup('reconcile'))
