/** What a reconciliation prints once it is done. */
import { doneWords, type ReconcileSummary } from '../../../controllers/workers/reconcile/words.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const summary: ReconcileSummary = {
  agree: false,
  disagreements: [{ code: 'CLUSTER_UNKNOWN', what: '2 of 2 known resources are absent in this cluster' }],
  steps: ['make 2 resources again'],
  ...{ blocked: [], decide: [], series: [], resources: [], absent: [], forgotten: [], aside: {} },
  epoch: { database: 3, lease: 0 },
}

spec('what was reconciled', (t) => {
  t('names what the cluster refused, and why', () => {
    const words = doneWords(summary, [{ kind: 'Host', name: 'one', detail: 'ROLE_REQUIRED: approving a host' }])
    assert.match(words, /Done:\n {2}- make 2 resources again/)
    assert.match(
      words,
      'Not made again, because the cluster refused it:\n  - Host/one: ROLE_REQUIRED: approving a host',
    )
  })
  t('is silent of it where all was made', () => {
    assert.not.match(doneWords(summary, []), 'refused')
  })
})
