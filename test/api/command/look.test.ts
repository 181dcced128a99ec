/** When what is waited for is looked at. The mirror and the watch are stood in for: what counts is how often each is asked. */
import { lookUntil } from '../../../api/command/look.ts'
import type { OwnMirror } from '../../../api/command/own.ts'
import type { Watched } from '../../../api/command/wait.ts'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const WATCHING = { kind: INVOICE, name: 'inv-1', whose: { account: 'demo' } }
/** What stands in it is not looked at here. */
const ROW: MirrorRow<never> = {
  ...{ kind: 'Invoice', name: 'inv-1', account: 'demo', uid: 'uid-1', generation: 1, observedGeneration: 1 },
  ...{ view: undefined as never, createdAt: '', updatedAt: '', archived: false },
}

/** @param given.heard the watch has heard of the resource already */
const wait = async (given: { isNew: boolean; heard?: boolean; isAsync?: boolean }) => {
  let looks = 0
  const mirror: OwnMirror = {
    get: async () => {
      looks += 1
      return ROW
    },
    list: async () => ({ rows: [], total: 0 }),
  }
  const watched: Watched<ShownInvoice> = {
    until: async (done) => (done(ROW) ? { row: ROW } : null),
    isQuiet: () => !given.heard,
    leave: () => {},
  }
  const outcome = await lookUntil(
    { mirror },
    WATCHING,
    {
      judge: (_goal: object, row) => (row ? 'decided' : 'pending'),
      conclude: async (_goal, row) => row ?? null,
      isNew: () => given.isNew,
      ...(given.isAsync && { isAsync: true }),
    },
    { goal: {}, watched },
  )
  return { looks, outcome }
}

spec('the first look of a wait', (t) => {
  t('is spared where the call itself made the resource and nothing was heard of it', async () => {
    assert.equal(await wait({ isNew: true }), { looks: 0, outcome: ROW })
  })
  t('is taken where something was heard while it was made', async () => {
    assert.equal(await wait({ isNew: true, heard: true }), { looks: 1, outcome: ROW })
  })
  t('is taken of what may have stood there before', async () => {
    assert.equal(await wait({ isNew: false }), { looks: 1, outcome: ROW })
  })
  t('is taken for who will not wait: it is the only one', async () => {
    assert.equal(await wait({ isNew: true, isAsync: true }), { looks: 1, outcome: ROW })
  })
})
