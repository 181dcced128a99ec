import type { Json } from '../../../support/stage/invoicing.ts'
import type { Prepare, TableRow, TableRows, TableStage, Waits } from './row.ts'

const ALL = '/api/admin/accounts'
const bodyOf = (tag: string, change: Json = {}) => ({ id: tag, email: `${tag}@demo.test`, ...change })

/** Accounts, as an administrator has them. */
export const accountRows = ({ sure, admin }: TableStage): TableRows => {
  const on =
    (rest: string, body?: object, made: Json = {}): Prepare =>
    async (tag) => {
      const { account } = await sure(admin, 'POST', ALL, bodyOf(tag, made))
      return { path: `${ALL}/${account.id}${rest}`, by: admin, ...(body && { body }) }
    }
  const row = (prepare: Prepare, refused: TableRow['refused'], more: Partial<Waits> = {}): TableRow => ({
    waits: { kind: 'acct', prepare, status: 200, gone: 'unknown', ...more },
    refused,
  })
  const UNKNOWN = '/capabilities/everything'
  return {
    'POST /api/admin/accounts': row(
      async (tag) => ({ path: ALL, body: bodyOf(tag), by: admin }),
      {
        code: 'NAME_TAKEN',
        prepare: async (tag) => ({ path: ALL, body: bodyOf(tag, { id: 'demo' }), by: admin }),
      },
      { status: 201 },
    ),
    'PATCH /api/admin/accounts/:id': row(on('', { name: 'Changed' }), {
      code: 'EMAIL_TAKEN',
      prepare: on('', { email: 'owner@demo.test' }),
    }),
    'PUT /api/admin/accounts/:id/capabilities/:capability': row(on('/capabilities/app.deploy'), {
      code: 'NOT_FOUND',
      prepare: on(UNKNOWN),
    }),
    'DELETE /api/admin/accounts/:id/capabilities/:capability': row(
      on('/capabilities/app.deploy', undefined, { capabilities: ['app.deploy'] }),
      { code: 'NOT_FOUND', prepare: on(UNKNOWN) },
    ),
  }
}
