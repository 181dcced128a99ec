/** The one list of controllers. A further kind adds a line here and one in crds/kinds.ts. */
import { accountControl } from './account/controller.ts'
import { appControl } from './app/controller.ts'
import { devInstanceControl } from './devinstance/controller.ts'
import { hostControl } from './host/controller.ts'
import { invoiceControl } from './invoice/controller.ts'
import type { Control } from './kind-controller.ts'
import { siteControl } from './site/controller.ts'

export const CONTROLS: readonly Control[] = [
  accountControl,
  invoiceControl,
  hostControl,
  siteControl,
  appControl,
  devInstanceControl,
]
