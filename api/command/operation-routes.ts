/** The route at which the verdict of a request stands that was answered 202 (rules/platform.md#operations). */
import type { VerdictState } from '../../controllers/store/request/operations.ts'
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { PROBLEM } from '../openapi/problem.ts'
import { object, text, whole } from '../openapi/schemas.ts'
import type { Deps, ReadingVerdicts } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import { type Commands, readOperation, viewOfOperation } from './operation.ts'

const STATES: readonly VerdictState[] = ['pending', 'succeeded', 'refused', 'unknown']

/** The component `operation` of the documents. */
export const operationSchema: JsonSchema = named('Operation', {
  ...object('A request that was answered before it was decided.', {
    id: text('Names it.'),
    method: text('As it was asked.'),
    path: text('As it was asked, without the query.'),
    resource: text('Where the resource is read.'),
    state: {
      ...text('How far it is. unknown: nobody can say any more, and problem says where to look.'),
      enum: [...STATES],
    },
    status: whole('Of what succeeded: the status of the answer.'),
    result: {
      description: 'Of what succeeded: the body that a caller who waited was answered; null where it has none.',
    },
    problem: PROBLEM,
    created_at: text('When 202 was answered.'),
    settled_at: text('When the verdict was seen.'),
  }),
  required: ['id', 'method', 'path', 'resource', 'state', 'created_at'],
})

/** @param commands all of them, by their names */
export const makeOperationRoutes = <Needs>(
  commands: Commands<Needs>,
): Route<ReadingVerdicts & Pick<Deps, 'publicUrl'> & NoInfer<Needs>>[] => [
  {
    method: 'GET',
    path: '/api/operations/:id',
    summary: 'Read the verdict of a request',
    description:
      'Where the Location of a 202 leads. It is kept for 7 days, for the account that asked, and needs the scope that the request needed.',
    tag: 'Operations',
    scope: { kind: 'token' },
    answers: {
      200: { description: 'The operation.', schema: object('The operation.', { operation: operationSchema }) },
    },
    codes: ['NOT_FOUND', 'FORBIDDEN'],
    handle: async (deps, { params, caller }) => {
      const stored = await readOperation(deps, commands, { id: params.id ?? '', caller })
      const retry = stored.state === 'pending' && { headers: { 'retry-after': '2' } }
      return { status: 200, ...retry, body: { operation: viewOfOperation(stored, deps.publicUrl) } }
    },
  },
]
