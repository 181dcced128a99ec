/** What may be asked of an invoice, and how each is answered when it is decided (rules/invoice.md#over-rest). */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { nextTurn } from '../../crds/account/quotas.ts'
import { collectedOf } from '../../crds/invoice/facts/collected.ts'
import { creditKey } from '../../crds/invoice/facts/records.ts'
import { INVOICE } from '../../crds/invoice/kind.ts'
import { claimKey } from '../../crds/invoice/money/claim.ts'
import type { PayloadView } from '../../crds/invoice/order/payload.ts'
import type { ShownInvoice } from '../../crds/invoice/rest/shown.ts'
import type { RemindOutcome } from '../../crds/invoice/steps.ts'
import type { InvoiceView } from '../../crds/invoice/view.ts'
import type { Fault } from '../../crds/kernel/problem.ts'
import { type Command, type CommandGoal, type GenerationGoal, judgeGeneration } from '../command/command.ts'
import { factCommand } from '../command/report.ts'
import { deleting } from '../command/resource.ts'
import { refuseStalled } from '../command/verdict.ts'
import { Problem } from '../http/problem.ts'
import type { Answer } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { railCommand } from './cards/rails.ts'
import { logoCommand } from './issuers/logo.ts'
import type { AnsweringInvoice } from './needs.ts'
import { passwordOf, rotateCommand } from './send/rotated.ts'
import { giveBackRefused } from './send/send-cap.ts'

type Row = MirrorRow<ShownInvoice>

export const locationOf = (name: string): string => `/api/invoices/${name}`

const shown = ({ view }: Row): Answer => ({ status: 200, body: { invoice: view } })

/** What is told where the same was reported before, and this is that report. */
export const replayOf = (replayed: boolean | undefined) => (replayed ? { replayed: true } : {})

/** What POST answers beside the invoice (rules/invoice.md#what-a-create-answers). */
const createdAnswer = (deps: AnsweringInvoice, { view }: Row, isReplay: boolean): Answer => ({
  status: isReplay ? 200 : 201,
  headers: { location: locationOf(view.id) },
  body: {
    number: view.number,
    url: view.url,
    ...passwordOf(deps, view),
    ...(isReplay && { idempotent_replay: true }),
    ...(view.would_email && { would_email: view.would_email }),
    invoice: view,
  },
})

/** The fields in which a repeat asks for something else than the first call did. */
export const mismatches = (asked: PayloadView, { view: { created_from: made } }: Row): Fault[] => {
  const fields = (Object.keys(asked) as (keyof PayloadView)[]).filter((field) => asked[field] !== made?.[field])
  return fields.map((field) => ({
    code: 'REF_PAYLOAD_MISMATCH',
    pointer: `/${field}`,
    detail: `was ${JSON.stringify(made?.[field])}, is now ${JSON.stringify(asked[field])}`,
  }))
}

/** `reserved`: this request took the place of a send. */
type Reserving = { reserved: boolean }

/** `stoodThere`: an earlier call made it. `reference`: the external_ref, or null. */
export type CreationGoal = Reserving & {
  uid: string
  stoodThere: boolean
  asked: PayloadView
  send: boolean
  reference: string | null
}

/** Answers a repeat with what the first call made, or refuses when the two ask for different things. */
const replay = (deps: AnsweringInvoice, { asked, reference }: CreationGoal, row: Row): Answer => {
  const { id } = row.view
  const faults = mismatches(asked, row)
  const fields = faults.map(({ pointer }) => pointer.slice(1)).join(', ')
  if (faults.length > 0 && reference === null) {
    throw new Problem('IDEMPOTENCY_MISMATCH', `The key was used for ${id} with another ${fields}.`)
  }
  if (faults.length > 0) {
    const detail = `The reference ${reference} was used for ${id} with another ${fields}.`
    throw new Problem('REF_PAYLOAD_MISMATCH', detail, { faults })
  }
  refuseStalled(row)
  return createdAnswer(deps, row, true)
}

/** A numbered one is the same invoice in whichever life of its resource; a draft or a test is another one. */
const isSame = ({ uid }: { uid: string }, row: Row): boolean =>
  row.uid === uid || (row.view.number !== null && !row.view.test)

/** Something final can be said once the controllers have, or when it is not what stands there. */
const isSettled = ({ asked, send }: CreationGoal, row: Row): boolean => {
  const { created_from, stalled, send_count } = row.view
  const isOther = created_from !== null && mismatches(asked, row).length > 0
  return row.observedGeneration > 0 && (stalled !== null || !send || send_count > 0 || isOther)
}

const giveBack: NonNullable<Command<Reserving, ShownInvoice, AnsweringInvoice>['giveBack']> = async (
  deps,
  { name, goal },
  refusal,
) => {
  if (goal.reserved) await giveBackRefused(deps, name, refusal)
}

export const createCommand: Command<CreationGoal, ShownInvoice, AnsweringInvoice> = {
  name: 'invoice.create',
  kind: INVOICE,
  judge(goal, row) {
    if (row === undefined) return 'pending'
    if (!isSame(goal, row)) return 'remade'
    return isSettled(goal, row) ? 'decided' : 'pending'
  },
  async answer(deps, _asking, goal, row) {
    if (row === undefined) return null
    if (goal.stoodThere) return replay(deps, goal, row)
    refuseStalled(row)
    return createdAnswer(deps, row, false)
  },
  isNew: ({ stoodThere }) => !stoodThere,
  giveBack,
}

/** A spec that the controllers have taken in, or are stalled by. */
export type ChangeCommand = Command<GenerationGoal & Reserving, ShownInvoice, AnsweringInvoice>

const changing = (name: string, answer: (deps: AnsweringInvoice, row: Row) => Answer): ChangeCommand => ({
  name,
  kind: INVOICE,
  judge: judgeGeneration,
  async answer(deps, _asking, _goal, row) {
    if (row === undefined) return null
    refuseStalled(row)
    return answer(deps, row)
  },
  giveBack,
})

/** What is shown of a send: the link, and the password of this send where it opens the page. */
const sentAnswer = (deps: AnsweringInvoice, { view }: Row, replayed = false): Answer => ({
  status: 200,
  body: {
    ...replayOf(replayed),
    number: view.number,
    url: view.url,
    ...passwordOf(deps, view),
    ...(view.would_email && { would_email: view.would_email }),
    invoice: view,
  },
})

export const changeCommand = changing('invoice.change', (_deps, row) => shown(row))
export const voidCommand = changing('invoice.void', (_deps, row) => shown(row))
export const sendCommand = changing('invoice.send', (deps, row) => sentAnswer(deps, row))
export const repeatCommand = changing('invoice.repeat', (_deps, { view: { recurrence } }) => ({
  status: 200,
  body: { recurrence },
}))

export const deleteCommand = deleting('invoice.delete', INVOICE)

export const paymentCommand = factCommand<ShownInvoice>({
  name: 'invoice.pay',
  kind: INVOICE,
  answer: (_deps, _asking, { row, replayed }) => ({ status: 200, body: { invoice: row.view, ...replayOf(replayed) } }),
})

export const creditCommand = factCommand<ShownInvoice>({
  name: 'invoice.credit',
  kind: INVOICE,
  answer: (_deps, _asking, { row: { view }, fact, replayed }) => ({
    status: 201,
    body: {
      credit_note: view.credit_notes.find(({ id }) => creditKey(id) === fact.key),
      invoice: view,
      ...replayOf(replayed),
    },
  }),
})

export const remindCommand = factCommand<ShownInvoice>({
  name: 'invoice.remind',
  kind: INVOICE,
  answer: (_deps, _asking, { row: { view }, fact }) => ({
    status: 200,
    body: { reminder: fact.outcome as RemindOutcome, invoice: view },
  }),
})

const withRetryAfter = ({ now }: Pick<Deps, 'now'>, error: unknown): unknown => {
  if (!(error instanceof Problem) || (error.code !== 'SEND_CAP' && error.code !== 'RECIPIENT_CAP')) return error
  const seconds = Math.max(1, Math.ceil((Date.parse(nextTurn(now())) - now().getTime()) / 1000))
  return new Problem(error.code, error.message, { headers: { 'retry-after': String(seconds) } })
}

const sentAgain = factCommand<ShownInvoice, AnsweringInvoice>({
  name: 'invoice.send-again',
  kind: INVOICE,
  answer: (deps, _asking, { row, replayed }) => sentAnswer(deps, row, replayed),
})

export const sendAgainCommand: typeof sentAgain = {
  ...sentAgain,
  answer: (deps, asking, goal, row) =>
    sentAgain.answer(deps, asking, goal, row).catch((error: unknown) => {
      throw withRetryAfter(deps, error)
    }),
}

/** What a client is told of its claim. */
export const claimedAnswer = (claim: InvoiceView['claims'][number] | undefined, isNew: boolean): Answer => ({
  status: isNew ? 201 : 200,
  body: { claim },
  headers: { 'cache-control': 'private, no-store' },
})

export const claimCommand = factCommand<ShownInvoice>({
  name: 'invoice.claim',
  kind: INVOICE,
  answer: (_deps, _asking, { row: { view }, fact }) =>
    claimedAnswer(
      view.claims.find(({ id }) => claimKey(id) === fact.key),
      true,
    ),
})

/** What comes from the processor is answered alike, however it was decided: it stays on record. */
export const cardEventCommand = factCommand<ShownInvoice>({
  name: 'invoice.card-event',
  kind: INVOICE,
  answer: () => ({ status: 200, body: { received: true } }),
})

/** How long the processor may need to come back. */
const PROCESSOR_RETRY_SECONDS = 30

export const noCheckoutYet = (): Problem =>
  new Problem('PROCESSOR_UNAVAILABLE', 'The card processor has not opened a checkout in time.', {
    headers: { 'retry-after': String(PROCESSOR_RETRY_SECONDS) },
  })

/** Where the client pays by card. */
export const checkoutAnswer = (url: string): Answer => ({ status: 200, body: { checkout_url: url } })

/** Decided once the processor has opened a session, or has refused to. */
export const checkoutCommand = factCommand<ShownInvoice>({
  name: 'invoice.checkout',
  kind: INVOICE,
  isPatient: true,
  answer(_deps, _asking, { fact, facts }) {
    const { session } = fact.outcome ?? {}
    const opened = collectedOf(facts).sessions.find((one) => one.session === session)?.opened
    if (!opened) throw noCheckoutYet()
    return checkoutAnswer(opened.url)
  },
})

export const invoiceCommands: readonly Command<CommandGoal, unknown, AnsweringInvoice>[] = [
  createCommand,
  changeCommand,
  voidCommand,
  sendCommand,
  repeatCommand,
  deleteCommand,
  paymentCommand,
  creditCommand,
  remindCommand,
  rotateCommand,
  sendAgainCommand,
  claimCommand,
  cardEventCommand,
  checkoutCommand,
  railCommand,
  logoCommand,
]
