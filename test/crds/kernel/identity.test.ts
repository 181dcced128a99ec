import { type Here, identityFaults, type KeptMarks, type LeaseMarks } from '../../../crds/kernel/desire/absence.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const HERE: Here = { clusterUid: 'cluster', namespace: 'bottega', keyCheck: 'key' }
const KEPT: KeptMarks = { ...HERE, id: 'installation', epoch: 7, keptEpoch: 7, isReconciling: false }
const MARKS: LeaseMarks = { installation: 'installation', epoch: 7 }
const said = (here: Partial<Here>, marks: Partial<LeaseMarks>, kept: Partial<KeptMarks> | null) =>
  identityFaults({ ...HERE, ...here }, { ...MARKS, ...marks }, kept && { ...KEPT, ...kept })

spec('database, cluster and key', (t) => {
  const cases: [string, Parameters<typeof said>, string[], RegExp?][] = [
    ['that belong together', [{}, {}, {}], []],
    ['of which nobody led yet', [{}, { installation: null, epoch: 0 }, null], []],
    [
      'of another cluster',
      [{ clusterUid: 'staging' }, {}, {}],
      ['CLUSTER_UNKNOWN'],
      /cluster, and this is cluster staging/,
    ],
    ['of another namespace', [{ namespace: 'staging' }, {}, {}], ['CLUSTER_UNKNOWN'], /namespace staging/],
    ['of another installation', [{}, { installation: 'other' }, {}], ['CLUSTER_UNKNOWN'], /installation other/],
    ['of another key', [{ keyCheck: 'other' }, {}, {}], ['KEY_UNKNOWN'], /BOTTEGA_SECRET_KEY/],
    [
      'where the database was put back',
      [{}, { epoch: 8 }, {}],
      ['LEDGER_BEHIND'],
      /epoch 8, and the database none after 7/,
    ],
    ['where the database is new', [{}, {}, null], ['LEDGER_BEHIND'], /is empty/],
    [
      'where the cluster was put back',
      [{}, { epoch: 6 }, {}],
      ['CLUSTER_BEHIND'],
      /epoch 7, and the cluster none after 6/,
    ],
    ['where a leader died between both marks', [{}, { epoch: 6 }, { keptEpoch: 6 }], []],
    ['where the Lease was made anew', [{}, { installation: null, epoch: 0 }, {}], []],
    [
      'of before these marks',
      [{}, { installation: null, epoch: 7 }, { namespace: null, keyCheck: null, keptEpoch: 0 }],
      [],
    ],
    ['put back to before these marks', [{}, { installation: null, epoch: 8 }, {}], ['LEDGER_BEHIND']],
    ['that are being reconciled', [{}, {}, { isReconciling: true }], ['LEDGER_BEHIND'], /run it again/],
    [
      'of staging, with its key',
      [{ clusterUid: 's', keyCheck: 's' }, { installation: 's', epoch: 90 }, {}],
      ['CLUSTER_UNKNOWN', 'KEY_UNKNOWN'],
    ],
  ]
  for (const [what, given, codes, sentence] of cases) {
    t(`${what}: ${codes.join(', ') || 'agree'}`, () => {
      const faults = said(...given)
      assert.equal(
        faults.map(({ code }) => code),
        codes,
      )
      if (sentence) assert.match(faults[0]?.what ?? '', sentence)
    })
  }

  t('are accepted by a word that names the place, never against a key or a mark', () => {
    const token = (...given: Parameters<typeof said>) => said(...given)[0]?.token
    assert.is(token({ clusterUid: 'staging' }, {}, {}), 'staging')
    assert.is(token({ namespace: 'staging' }, {}, {}), 'cluster/staging')
    assert.is(token({}, { installation: 'other' }, {}), 'cluster/other')
    assert.equal(
      [token({ keyCheck: 'x' }, {}, {}), token({}, { epoch: 8 }, {}), token({}, { epoch: 6 }, {})],
      [null, null, null],
    )
  })
})
