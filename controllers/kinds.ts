/** The one list of controllers. A further kind adds a line here and one in crds/kinds.ts. */
import { accountControl } from './account.ts'
import type { Control } from './control.ts'
import { invoiceControl } from './invoice.ts'

export const CONTROLS: readonly Control[] = [accountControl, invoiceControl]
