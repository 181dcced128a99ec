/** How a recognised project is described in answers. */
import { named } from '../../kernel/named.ts'
import { PROJECT_KINDS } from './project.ts'

export const recognisedAnswer = named('RecognisedProject', {
  type: ['object', 'null'],
  description: 'What a project without a compose file was taken for; null where it has one.',
  properties: {
    kind: { type: 'string', description: 'Its sort.', enum: [...PROJECT_KINDS] },
    why: {
      type: 'array',
      description: 'What was seen, and what follows from it.',
      items: { type: 'string', description: 'A sentence.' },
    },
    files: {
      type: 'array',
      description: 'What is added to the upload, where it was just sent.',
      items: {
        type: 'object',
        description: 'A file.',
        properties: {
          path: { type: 'string', description: 'Its path.' },
          text: { type: 'string', description: 'All of it.' },
        },
      },
    },
  },
})
