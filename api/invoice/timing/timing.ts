/** Reminding the client by hand, and repeating an invoice every month (rules/invoice.md#reminders, #recurrence). */

import { remindKey } from '../../../crds/invoice/facts/reminded.ts'
import { faultsOf } from '../../../crds/invoice/faults.ts'
import { recurrence } from '../../../crds/invoice/order/timing.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { toPatch } from '../../../crds/kernel/rest.ts'
import { withDefaults } from '../../../crds/kernel/schema.ts'
import { isDay } from '../../../crds/values/calendar.ts'
import { nameFor } from '../../command/name.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { changeInvoice } from '../change.ts'
import { remindCommand, repeatCommand } from '../commands.ts'
import { liveRow, reportOn } from '../money/money.ts'
import type { InvoiceNeeds } from '../needs.ts'

/** Reminds the client now, unless it was done today; says why when no mail goes out. */
export const remindClient = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const key = remindKey(nameFor('rem', request))
  return reportOn(deps, request, row, { command: remindCommand, fact: { key, kind: 'remind', body: {} } })
}

/** What could not be made is refused now, not in a month. */
const refuseRecurrence = (spec: InvoiceSpec, until: string | undefined): void => {
  if (until !== undefined && !isDay(until)) {
    const detail = `${JSON.stringify(until)} is no day of the calendar, YYYY-MM-DD`
    refuseFaults([{ code: 'INVALID_FIELD', pointer: '/until', detail }])
  }
  if (spec.recurrence?.mode !== 'send') return
  const first = faultsOf({ ...spec, send: true })[0]
  if (first) throw new Problem(first.code, `What is to be sent every month cannot be sent: ${first.detail}.`)
}

/** Repeats an invoice, changes how, pauses or ends it: the whole of it, as the body says. */
export const repeatInvoice = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await liveRow(deps, request)
  const { status, number } = row.view
  if (status === 'voided') throw new Problem('LOCKED_VOID', `${number} is voided.`)
  const asked = withDefaults<NonNullable<InvoiceSpec['recurrence']>>(
    recurrence,
    toPatch({ spec: recurrence }, request.body),
  )
  return changeInvoice(deps, request, row, {
    command: repeatCommand,
    of(spec) {
      refuseRecurrence({ ...spec, recurrence: asked }, asked.until)
      // a merge patch: what is left out of the body goes
      return { recurrence: { until: null, ...asked } }
    },
  })
}
