/** What opens a page, as it is told to whoever sent it: the password, and the answer where link or password were ended. */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import type { InvoiceLink } from '../../../crds/invoice/facts/versions.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import type { InvoiceView } from '../../../crds/invoice/view.ts'
import { FIRST_LINK } from '../../../crds/values/links.ts'
import { factCommand } from '../../command/report.ts'
import type { Answer } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'

/** Where a client without an account opens the page. It can be derived again, so a replay shows it too. */
export const passwordOf = (
  { keys }: Pick<Deps, 'keys'>,
  { gate, id, send_count, link_versions }: InvoiceView,
): { password?: string } =>
  gate === 'password' && send_count > 0
    ? { password: keys.password(id, send_count, link_versions?.password ?? FIRST_LINK) }
    : {}

/** @param isReplay it had come to that version already */
export const rotatedAnswer = (
  deps: Pick<Deps, 'keys'>,
  { view }: MirrorRow<ShownInvoice>,
  purpose: InvoiceLink,
  isReplay: boolean,
): Answer => ({
  status: 200,
  body: {
    version: view.link_versions?.[purpose] ?? FIRST_LINK,
    url: view.url,
    ...passwordOf(deps, view),
    invoice: view,
    ...(isReplay && { replayed: true }),
  },
})

export const rotateCommand = factCommand<ShownInvoice, Pick<Deps, 'keys'>>({
  name: 'invoice.rotate',
  kind: INVOICE,
  answer: (deps, _asking, { row, fact }) => rotatedAnswer(deps, row, fact.body.purpose as InvoiceLink, false),
})
