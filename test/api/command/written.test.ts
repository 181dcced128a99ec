/** What a failure leaves behind: stored, not stored, or unknown, and nothing else. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  aroundWrites,
  countingWrites,
  followed,
  HARMLESS,
  layingReady,
  WRITERS,
  writing,
} from '../../../api/command/written.ts'
import { asProblem, Problem, type Stored, withOutcome } from '../../../api/http/problem.ts'
import { KubeError } from '../../../controllers/base/errors.ts'
import { DatabaseRefused, DatabaseUnavailable } from '../../../controllers/store/pg/pg.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const root = join(import.meta.dirname, '..', '..', '..')

const kubeError = (status: number, reason: string, detail = '') => new KubeError('create x', { status, reason, detail })
const lost = () => new DatabaseUnavailable('the connection ended')
const unsent = () => Object.assign(new DatabaseUnavailable('no connection'), { isUndone: true })
const failing = (error: Error) => () => Promise.reject(error)
const fine = async () => 1

/** Does all of it, in order, until something fails; gives what is known then. */
const after = (...works: (() => Promise<unknown>)[]): Promise<Stored> =>
  followed(async (outcome) => {
    for (const work of works) {
      const failed = await work().then(
        () => false,
        () => true,
      )
      if (failed) break
    }
    return outcome()
  })
const statement = (text: string, run: () => Promise<unknown>) => () => aroundWrites({ name: 'x', text }, run)

spec('what a request may have written', (t) => {
  const UPDATE = 'update tokens set revoked_at = $1'
  const cases: [string, Stored, (() => Promise<unknown>)[]][] = [
    ['nothing was asked for', 'not_stored', []],
    ['a read failed', 'not_stored', [statement('select 1 from facts', failing(lost()))]],
    ['a write was never sent', 'not_stored', [() => writing(failing(unsent()))]],
    ['the answer of a write was lost', 'unknown', [() => writing(failing(lost()))]],
    ['a write was refused', 'not_stored', [() => writing(failing(new DatabaseRefused('no', '23505', undefined)))]],
    ['a read failed after a write', 'unknown', [() => writing(fine), statement('select 1', failing(lost()))]],
    ['a write was never sent after another was', 'unknown', [() => writing(fine), () => writing(failing(unsent()))]],
    ['the API server refused', 'not_stored', [() => writing(failing(kubeError(422, 'Invalid')))]],
    ['nobody listens there', 'not_stored', [() => writing(failing(kubeError(0, 'ConnectionFailed ECONNREFUSED')))]],
    ['the API server gave no answer', 'unknown', [() => writing(failing(kubeError(0, 'Timeout')))]],
    ['an update lost its answer', 'unknown', [statement(UPDATE, failing(lost()))]],
    ['a function that writes lost its answer', 'unknown', [statement('select mint_token($1)', failing(lost()))]],
    [
      'a place was taken',
      'not_stored',
      [statement('select * from take_send_slots($1)', fine), () => writing(failing(unsent()))],
    ],
    ['a key was kept', 'not_stored', [statement('\nupdate idempotency set state = $5', failing(lost()))]],
  ]
  for (const [what, outcome, works] of cases) {
    t(`is ${outcome} where ${what}`, async () => assert.is(await after(...works), outcome))
  }

  t('counts what is written to the cluster, and no annotation that wakes', async () => {
    const away = failing(kubeError(0, 'Timeout'))
    const kube = countingWrites({ create: away, patchSpec: away, delete: away, patchMeta: away, get: away } as never)
    const said = (call: (of: typeof kube) => Promise<unknown>) => after(() => call(kube))
    const [kind, ref] = [
      { kind: 'Invoice', plural: 'invoices' },
      { namespace: 'n', name: 'x' },
    ]
    assert.equal(
      await Promise.all([
        said((of) => of.create(kind, { metadata: {} } as never)),
        said((of) => of.patchSpec(kind, ref, {})),
        said((of) => of.delete(kind, ref)),
        said((of) => of.patchMeta(kind, ref, {})),
        said((of) => of.get(kind, ref)),
      ]),
      ['unknown', 'unknown', 'unknown', 'not_stored', 'not_stored'],
    )
  })

  const laying = (
    use: () => Promise<unknown>,
    giveBack: () => Promise<unknown>,
    lay = fine as () => Promise<unknown>,
  ) => {
    const back: string[] = []
    const work = () =>
      layingReady({
        lay: () => writing(lay),
        use,
        giveBack: async () => {
          back.push('given back')
          await writing(giveBack)
        },
      })
    return after(work).then((outcome) => [outcome, ...back])
  }
  const refused = failing(kubeError(0, 'ConnectionFailed ECONNREFUSED'))
  const silent = failing(kubeError(0, 'Timeout'))
  t('is given back where what it was laid ready for was not written, and nothing was stored', async () => {
    assert.equal(
      await Promise.all([
        laying(() => writing(refused), fine),
        laying(refused, fine),
        laying(() => writing(silent), fine),
        laying(() => writing(fine).then(failing(lost())), fine),
        laying(() => writing(refused), failing(lost())),
        laying(fine, fine, failing(lost())),
      ]),
      [
        ['not_stored', 'given back'],
        ['not_stored', 'given back'],
        ['unknown'],
        ['unknown'],
        ['unknown', 'given back'],
        ['unknown'],
      ],
    )
  })

  t('does not mix two requests', async () => {
    const [one, other] = await Promise.all([after(() => writing(failing(lost()))), after(fine)])
    assert.equal([one, other], ['unknown', 'not_stored'])
  })

  t('knows each function of the ledger that the api may have change something', () => {
    const grants = readFileSync(join(root, 'controllers/store/sql/grants.sql'), 'utf8')
    const writes = grants.slice(grants.indexOf('-- Writes of tables')).replaceAll(/--.*$/gm, '')
    const granted = [...writes.matchAll(/grant execute on function ([\w,\s]+?)\s+to/g)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim()),
    )
    assert.ok(granted.length > 20)
    assert.equal(granted.sort(), [...WRITERS, ...HARMLESS].sort())
  })
})

spec('what is said of a failure', (t) => {
  const said = (error: unknown, outcome: Stored, isRead = false) =>
    withOutcome(asProblem(error), { isRead, outcome, lookAt: '/api/things/1' })

  t('names the outcome, and the address where it is to be looked at', () => {
    const { members, headers, message } = said(lost(), 'unknown')
    assert.equal([members.outcome, headers.location], ['unknown', '/api/things/1'])
    assert.match(message, /It is not known whether this request was stored: look there first/)
  })

  t('names no address, and lets it be sent again, where nothing was stored', () => {
    const { members, headers, message } = said(kubeError(0, 'Timeout'), 'not_stored')
    assert.equal([members.outcome, headers.location], ['not_stored', undefined])
    assert.match(message, /Nothing of this request was stored/)
  })

  t('says the same of a fault of ours, of a part that is switched off, and of no refusal', () => {
    assert.is(said(new TypeError('x'), 'unknown').members.outcome, 'unknown')
    assert.is(said(new Problem('LLM_UNAVAILABLE', 'It does not answer.'), 'not_stored').members.outcome, 'not_stored')
    assert.equal(said(new Problem('NOT_FOUND', 'There is none.'), 'unknown').members, {})
  })

  t('lets it be sent again where the API server says no, which has just started and knows no Role yet', () => {
    const { code, status, headers, members } = said(kubeError(403, 'Forbidden'), 'not_stored')
    assert.equal([code, status, members.outcome], ['UNAVAILABLE', 503, 'not_stored'])
    assert.ok(Number(headers['retry-after']) > 0)
  })

  t(
    'says of a kind that the cluster does not know, that its definition is missing, and of an object that it is gone',
    () => {
      for (const error of [
        kubeError(404, 'Status404'),
        kubeError(404, 'NotFound', 'the server could not find the requested resource'),
      ]) {
        assert.equal([said(error, 'not_stored').code, said(error, 'not_stored').status], ['KIND_UNKNOWN', 503])
      }
      assert.is(said(kubeError(404, 'NotFound', 'invoices.bottega.dev "x" not found'), 'not_stored').code, 'NOT_FOUND')
    },
  )
})
