/** The one list of controllers. A further kind adds a line here and one in crds/kinds.ts. */
import { accountControl } from './account.ts'
import { appControl } from './app.ts'
import type { Control } from './control.ts'
import { devInstanceControl } from './devinstance.ts'
import { hostControl } from './host.ts'
import { invoiceControl } from './invoice.ts'
import { siteControl } from './site.ts'

export const CONTROLS: readonly Control[] = [
  accountControl,
  invoiceControl,
  hostControl,
  siteControl,
  appControl,
  devInstanceControl,
]
