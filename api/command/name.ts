/** The name of what a request is to make: it is what makes a repeat of the request the same thing. */
import { randomBytes } from 'node:crypto'
import type { Keys } from '../../controllers/base/keys.ts'
import { freshName } from '../../crds/kernel/fields.ts'
import type { ApiRequest } from '../http/route.ts'

const NAME_BYTES = 16

type Asking = Pick<ApiRequest, 'caller' | 'idempotencyKey'>

/**
 * Names an entry in what is the account's own already: the same for each retry under one Idempotency-Key.
 * @param prefix of such ids, as `pay`
 */
export const nameFor = (prefix: string, { idempotencyKey }: Pick<ApiRequest, 'idempotencyKey'>): string =>
  freshName(prefix, idempotencyKey === undefined ? randomBytes(NAME_BYTES) : Buffer.from(idempotencyKey, 'hex'))

/** The n-th name of one thing, from 0. */
export type Names = (n: number) => string

/**
 * Names a resource, in whose namespace others write too. A reference leads to the same names for ever and an
 * Idempotency-Key for as long as it is kept, so that a repeat meets the first create in the API server, whatever became of
 * us in between. They come from the server key: nobody else can take one before.
 * @param prefix of the kind's ids, as `inv`
 */
export const namesFor = (
  keys: Pick<Keys, 'resourceName'>,
  prefix: string,
  { caller: { account }, idempotencyKey }: Asking,
  externalRef?: string,
): Names => {
  const of = externalRef === undefined ? ['key', idempotencyKey ?? ''] : ['ref', externalRef]
  if (externalRef === undefined && idempotencyKey === undefined) return () => freshName(prefix, randomBytes(NAME_BYTES))
  return (n) => freshName(prefix, keys.resourceName(JSON.stringify([prefix, account, ...of, n])))
}
