/** What the routes of dev instances share. */
import { CAPABILITY } from '../../crds/devinstance/reserving.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { object, pendingOf, text } from '../openapi/schemas.ts'
import * as shapes from './shapes.ts'

export const tag = 'Dev instances'
export const reads = { kind: 'scope', scope: 'devboxes:read' } as const
export const manages = { kind: 'scope', scope: 'devboxes:manage' } as const
export const all = '/api/devboxes'
export const one = '/api/devboxes/:id'

export const ok = (description: string, schema: JsonSchema) => ({ 200: { description, schema } })
export const pendingAnswer = pendingOf(
  'PendingDevbox',
  'Said; the verdict is still to come. Poll the address in Location.',
  {
    devbox: object('The instance.', { id: text('Names the instance.') }),
  },
)
export const changed = { ...ok('The instance.', shapes.wrapped), 202: pendingAnswer }

/** Of what may be rehearsed: the instance, or what would become of it. */
export const requested = {
  ...ok('The instance; with dryRun what would become of it.', shapes.requestedAnswer),
  202: pendingAnswer,
}

/** What every change of an instance shares. */
export const change = { tag, scope: manages, capability: CAPABILITY } as const
