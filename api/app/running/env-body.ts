/** How the bodies about the env of an app are described. */
import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import { object } from '../../openapi/schemas.ts'
import { ENV_VALUE_MAX } from './env.ts'

export const envBody = (value: JsonSchema): JsonSchema => ({
  ...object('Names and values.', {
    env: { type: 'object', description: 'Names and values.', maxProperties: 500, additionalProperties: value },
  }),
  required: ['env'],
  additionalProperties: false,
})
export const value = {
  description: 'The value; it is never shown again.',
  maxLength: ENV_VALUE_MAX,
  'x-code': 'BAD_ENV',
}
