/** How the answers about moves are described. */
import type { JsonSchema } from '../../../../kernel/rest.ts'

export const leftHostsAnswer: JsonSchema = {
  type: 'array',
  description: 'Hosts that it has left, or did not come to.',
  items: {
    type: 'object',
    description: 'A host.',
    properties: {
      host_id: { type: 'string', description: 'Names the host.' },
      until: {
        type: ['string', 'null'],
        description: 'Until then visitors there are sent on; then what is left there goes.',
      },
      volumes: {
        type: 'array',
        description: 'What it kept there, as it was when it left: it goes with the rest.',
        items: { type: 'string', description: 'A name.' },
      },
    },
  },
}
