/** The name of what a request is to make: it is what makes a repeat of the request the same thing. */
import { randomBytes } from 'node:crypto'
import { freshName, refName } from '../crds/fields.ts'
import type { ApiRequest } from './route.ts'

const NAME_BYTES = 16

/**
 * A reference leads to one name for ever and an Idempotency-Key to one for as long as it is kept, so that a repeat meets
 * the first create in the API server, whatever became of us in between.
 * @param prefix of the kind's ids, as `inv`
 */
export const nameFor = (
  prefix: string,
  { caller: { account }, idempotencyKey }: Pick<ApiRequest, 'caller' | 'idempotencyKey'>,
  externalRef?: string,
): string => {
  if (externalRef !== undefined) return refName(prefix, { account, externalRef })
  return freshName(prefix, idempotencyKey === undefined ? randomBytes(NAME_BYTES) : Buffer.from(idempotencyKey, 'hex'))
}
