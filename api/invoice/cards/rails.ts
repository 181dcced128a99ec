/** The account's card processors: a setting of the Account, so kubectl and REST switch the same (rules/invoice.md#rails). */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { ACCOUNT } from '../../../crds/account/kind.ts'
import type { AccountSpec } from '../../../crds/account/schema.ts'
import type { AccountView, StoredAccount } from '../../../crds/account/view.ts'
import { RAIL } from '../../../crds/invoice/money/collect.ts'
import { type Command, type GenerationGoal, generationGoal, judgeGeneration } from '../../command/command.ts'
import { editSpec } from '../../command/edit.ts'
import { accountRow } from '../../command/own.ts'
import { settle } from '../../command/settle.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { InvoiceNeeds } from '../needs.ts'

const PATH = '/api/invoices/settings/rails'

const railOf = ({ cards }: Pick<Deps, 'cards'>, enabled: boolean) => ({
  rail: RAIL,
  enabled,
  available: cards !== null,
})

const isEnabled = (row: MirrorRow<AccountView> | undefined): boolean => (row?.view.rails ?? []).includes(RAIL)

export const getRail = async (deps: InvoiceNeeds, { caller }: ApiRequest): Promise<Answer> => {
  const row = await accountRow(deps, caller)
  return { status: 200, body: railOf(deps, isEnabled(row)) }
}

/**
 * What decides whether an invoice of the caller is collected by card. A test invoice is left to the controllers, who know
 * whether the processor's key moves real money.
 */
export const collecting = ({ cards }: Pick<Deps, 'cards'>, { caller }: Pick<ApiRequest, 'caller'>) => ({
  processor: cards && { livemode: true },
  account: caller.profile,
})

export const railCommand: Command<GenerationGoal & { enabled: boolean }, StoredAccount, Pick<Deps, 'cards'>> = {
  name: 'invoice.rail',
  kind: ACCOUNT,
  judge: judgeGeneration,
  answer: async (deps, _asking, { enabled }) => ({ status: 200, body: railOf(deps, enabled) }),
}

/** May be switched on before the installation has a processor: `available` says whether anything comes of it. */
export const setRail = async (deps: InvoiceNeeds, request: ApiRequest): Promise<Answer> => {
  const { account, profile } = request.caller
  const name = profile.id
  const uid = (await accountRow(deps, request.caller))?.uid ?? ''
  const { enabled } = request.body as { enabled: boolean }
  return settle(deps, request, railCommand, {
    name,
    whose: { account },
    resource: PATH,
    pending: railOf(deps, enabled),
    async act() {
      const of = { kind: ACCOUNT, name, whose: { because: 'itself' as const }, uid }
      const { metadata } = await editSpec<AccountSpec>(deps, of, ({ rails = [] }) => {
        if (rails.includes(RAIL) === enabled) return null
        return { rails: enabled ? [...rails, RAIL] : rails.filter((rail) => rail !== RAIL) }
      })
      return { ...generationGoal(metadata), enabled }
    },
  })
}
