/** The one list of controllers. A further kind adds a line here and one in crds/kinds.ts. */
import { accountControl } from './account/controller.ts'
import { appControl } from './app/controller.ts'
import { devInstanceControl } from './devinstance/controller.ts'
import { hostControl } from './host/controller.ts'
import { invoiceControl } from './invoice/controller.ts'
import type { Control } from './kind-controller.ts'
import type { MailOf, MailRow } from './mails.ts'
import { siteControl } from './site/controller.ts'

export const CONTROLS: readonly Control[] = [
  accountControl,
  invoiceControl,
  hostControl,
  siteControl,
  appControl,
  devInstanceControl,
]

/** Kinds whose rows go on though a resource was lost. */
export const GOING_ON: ReadonlySet<string> = new Set(
  CONTROLS.flatMap(({ kind, goesOnWithout }) => (goesOnWithout ? [kind.kind] : [])),
)

const MAILS = new Map(CONTROLS.map(({ kind, mails }) => [kind.kind, mails]))

/** The mail that a row of the outbox asks for. @throws when its kind has no mail of that name */
export const mailOf = ({ kind, payload }: Pick<MailRow, 'kind' | 'payload'>): MailOf => {
  const { mail } = payload as { mail: string }
  const found = MAILS.get(kind)?.[mail]
  if (!found) throw new Error(`${kind} has no mail ${mail}`)
  return found
}
