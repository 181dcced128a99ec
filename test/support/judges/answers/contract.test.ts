import { assert, spec } from '../../runner/spec.ts'
import { undocumented } from './contract.ts'

const PROBLEM = { type: '/problems/X', title: 'X', status: 404, detail: 'x', code: 'X', request_id: 'req-1' }
const PATH = '/api/invoices/inv-1'
const judged = (status: number, json: unknown, contentType = 'application/problem+json', path = PATH): string =>
  undocumented('GET', path, { status, json, contentType }) ?? 'as described'
const answered = (json: unknown, path = PATH): string => judged(200, json, 'application/json; charset=utf-8', path)

spec('an answer held against the documents', (t) => {
  t('is as described, whichever answer was held before', () => {
    assert.is(judged(404, PROBLEM), 'as described')
    assert.is(judged(404, PROBLEM, 'application/problem+json', '/api/apps/app-1'), 'as described')
    assert.is(judged(404, { ...PROBLEM, errors: [{ code: 'A', pointer: '/a', detail: 'a' }] }), 'as described')
  })
  const PLANTED: [string, string, RegExp][] = [
    ['a field that is missing', judged(404, { ...PROBLEM, code: undefined }), /required property 'code'/],
    ['a value of another type', judged(404, { ...PROBLEM, status: '404' }), /status must be integer/],
    ['a value that is not among those named', judged(404, { ...PROBLEM, outcome: 'perhaps' }), /outcome must be equal/],
    ['a fault of an item of a list', judged(404, { ...PROBLEM, errors: [{ code: 'A' }] }), /errors\/0 must have/],
    ['a fault of a part that the document names', answered({ invoice: { id: 4 } }), /invoice\/id must be string/],
    ['a status that is not described', judged(418, PROBLEM), /418, which is not described/],
    ['a type that is not described', judged(200, '<p>', 'text/html'), /as text\/html, which is not described/],
  ]
  for (const [what, said, wanted] of PLANTED) t(`is refused for ${what}`, () => assert.match(said, wanted))
  t('is held against its own document, whatever others name alike', () => {
    assert.match(answered({ site: { id: 4 } }, '/api/website/site-1'), /site\/id must be string/)
    assert.match(answered({ app: { id: 4 } }, '/api/apps/app-1'), /app\/id must be string/)
  })
})
