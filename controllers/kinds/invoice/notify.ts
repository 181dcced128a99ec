/** Notifies the owner of an account by mail, with the fact that it follows from. */
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { factOf, type InvoiceDeps, type InvoiceStepOf } from './deps.ts'

/** The part of a Message-ID: letters, digits and dots. */
const idOf = (purpose: string): string => purpose.replace(/[^A-Za-z0-9-]+/g, '.')

export const notifyOwner = async (
  deps: InvoiceDeps,
  step: InvoiceStepOf<'notifyOwner'>,
  { metadata, spec }: InvoiceResource,
) => {
  const { fact, mail, giveBack } = step
  const resource = metadata.name
  const at = deps.now().toISOString()
  await deps.ledger.notifyOwner({
    resource,
    at,
    fact: fact && { ...factOf(metadata), ...fact, state: 'accepted', at },
    mail: mail && {
      kind: INVOICE.kind,
      account: spec.account,
      purpose: mail.purpose,
      messageId: `<${resource}.${idOf(mail.purpose)}@${deps.mailDomain}>`,
      payload: mail.notice,
    },
    giveBack,
  })
  deps.onQueued()
}
