/**
 * Bringing back the resource of an invoice that left the cluster, because something is to be done to it. It is made anew
 * from the archived view; the controllers find it in the ledger and adopt it: the same number, the same state, no mail.
 */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { specOfView } from '../../../crds/invoice/planning/restore.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import { CREATED_FROM } from '../../../crds/kernel/object.ts'
import { waitFor } from '../../command/look.ts'
import { makeOwn } from '../../command/make.ts'
import { sameOwner } from '../../command/own.ts'
import { Problem, unavailable } from '../../http/problem.ts'
import type { Deps } from '../../wiring/deps.ts'

type Returning = Pick<Deps, 'kube' | 'namespace' | 'waiter' | 'mirror'>

/**
 * @returns the row of the resource once the controllers have adopted it; who comes second finds it there
 * @throws NameHeld where another account's stands under its name; Problem UNAVAILABLE when they have not in time; the resource stays, and a repeat goes on from there
 */
export const bringBack = async (deps: Returning, row: MirrorRow<ShownInvoice>): Promise<MirrorRow<ShownInvoice>> => {
  const { name, account } = row
  const view = row.view
  if (view.number === null) throw new Problem('NOT_FOUND', `There is no invoice ${name}.`)
  const isBack = (now: MirrorRow<ShownInvoice> | undefined): now is MirrorRow<ShownInvoice> =>
    now !== undefined && !now.archived && now.uid !== row.uid
  const back = await waitFor<null, ShownInvoice, MirrorRow<ShownInvoice>>(deps, {
    kind: INVOICE,
    name,
    whose: sameOwner(row),
    async act() {
      const annotations = view.created_from ? { [CREATED_FROM]: JSON.stringify(view.created_from) } : {}
      await makeOwn(deps, INVOICE, { name, spec: specOfView(account, view), annotations })
      return null
    },
    judge: (_goal, now) => (isBack(now) ? 'decided' : 'pending'),
    conclude: async (_goal, now) => now ?? null,
  })
  if (back !== null) return back
  throw unavailable(`${view.number} is still being brought back from the archive`, { outcome: 'not_stored' })
}
