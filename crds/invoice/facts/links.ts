/** That links were ended: verdicts on what was asked for, and steps for what the spec or the status knows of and no fact says. */
import { unrecordedLinks } from '../../values/links.ts'
import type { InvoiceEvent } from '../events.ts'
import { orderOf } from '../order/order.ts'
import type { RequestVerdict } from '../planning/decide.ts'
import { eventOf } from '../planning/subject.ts'
import type { InvoiceResource } from '../schema.ts'
import type { InvoiceFacts } from '../status.ts'
import type { InvoiceWorld } from '../world.ts'
import { INVOICE_LINKS, type InvoiceLink } from './versions.ts'

type Passing = { object: InvoiceResource; world: InvoiceWorld; facts: InvoiceFacts }
/** `isAsked`: by the spec; otherwise the status knows of it, and the ledger is the older one. */
export type InvoiceLinkStep = {
  do: 'recordLink'
  purpose: InvoiceLink
  version: number
  isAsked: boolean
  event: InvoiceEvent | null
}

/** Null of a draft, of which nothing is told. */
const rotated = ({ object, world, facts }: Passing, purpose: string, version: number): InvoiceEvent | null => {
  const order = orderOf(object.spec, world)
  if (!world.record || !order) return null
  const event = eventOf('invoice.link_rotated', { object, world, facts, order })
  return { ...event, data: { ...event.data, link: { purpose, version } } }
}

/** It is never refused: whatever becomes of an invoice, who may look at it can be ended. */
export const linkVerdicts = (passing: Passing): RequestVerdict[] =>
  passing.world.links.asked.map(({ seq, purpose, version }) => ({
    seq,
    accept: true,
    outcome: null,
    event: rotated(passing, purpose, version),
  }))

export const linkSteps = (passing: Passing): InvoiceLinkStep[] => {
  const { object, world } = passing
  return unrecordedLinks(INVOICE_LINKS, world.linkVersions, world.links.recorded).map(({ purpose, version }) => {
    const isAsked = object.spec.linkVersions?.[purpose] === version
    // of what is only given back everybody was told
    const event = isAsked ? rotated(passing, purpose, version) : null
    return { do: 'recordLink', purpose, version, isAsked, event }
  })
}
