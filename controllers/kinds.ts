/** The one list of controllers. A further kind adds a line here and one in crds/kinds.ts. */
import { accountControl } from './account.ts'
import { appControl } from './app.ts'
import type { Control } from './control.ts'
import { hostControl } from './host.ts'
import { invoiceControl } from './invoice.ts'

export const CONTROLS: readonly Control[] = [accountControl, appControl, hostControl, invoiceControl]
