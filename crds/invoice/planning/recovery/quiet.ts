/** A document that is drawn anew, because the ledger had lost it, is mailed and told of to nobody: they know of it. */
import type { InvoiceStep } from '../../steps.ts'
import type { InvoiceWorld } from '../../world.ts'

const isKnown = (step: InvoiceStep, { sends, phase, notes }: NonNullable<InvoiceWorld['restored']>): boolean => {
  if (step.do === 'freeze') return step.n <= sends
  if (step.do !== 'stamp') return false
  if (step.kind === 'credit_note') return notes.includes(step.id)
  return step.kind === 'paid' ? phase === 'paid' : phase === 'voided'
}

export const quietly = (steps: readonly InvoiceStep[], { restored }: Pick<InvoiceWorld, 'restored'>): InvoiceStep[] =>
  steps.map((step) =>
    restored !== null && (step.do === 'freeze' || step.do === 'stamp') && isKnown(step, restored)
      ? { ...step, mail: null, event: null }
      : step,
  )
