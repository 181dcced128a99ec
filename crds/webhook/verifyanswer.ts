/** The JSON schemas of POST /api/webhooks/verify: what it takes, and what it answers (rules/webhook.md#why-a-check-fails). */
import type { JsonSchema } from '../kernel/rest.ts'
import { FINDINGS, PARTS } from './findings.ts'

/** More than any delivery of ours has; what is larger is not looked at. */
export const VERIFY_BODY_MAX = 65_536
export const VERIFY_HEADERS_MAX = 100
const HEADER_MAX = 8_192
/** A secret has 50; one that was encoded twice, and quoted, is still looked at. */
const SECRET_MAX = 256

const INSTANT =
  '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$'

/** Closed. The secret is looked at and not kept. */
export const verifyBody: JsonSchema = {
  type: 'object',
  description: 'A delivery as your receiver got it. Nothing of it is stored.',
  additionalProperties: false,
  required: ['body', 'headers', 'secret'],
  properties: {
    body: {
      type: 'string',
      description: 'The body, as the text that your code computed the digest of.',
      maxLength: VERIFY_BODY_MAX,
    },
    headers: {
      type: 'object',
      description:
        'All headers of the request, in any case. With webhook-id the body is compared with the one that was sent.',
      maxProperties: VERIFY_HEADERS_MAX,
      additionalProperties: { type: 'string', description: 'The value of a header.', maxLength: HEADER_MAX },
    },
    secret: {
      type: 'string',
      description: 'The secret, exactly as your code has it. It is not stored, logged or answered.',
      minLength: 1,
      maxLength: SECRET_MAX,
    },
    received_at: {
      type: 'string',
      description: "When it came in by your receiver's clock, as an instant; now when left out.",
      pattern: INSTANT,
    },
  },
  examples: [
    {
      body: '{"id":"evt_0123456789abcdef0123456789abcdef","type":"ping"}',
      headers: {
        'X-Service-Signature': 't=1795305600,v1=0000000000000000000000000000000000000000000000000000000000000000',
        'webhook-id': 'evt_0123456789abcdef0123456789abcdef',
      },
      secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
      received_at: '2026-11-22T00:00:01Z',
    },
  ],
}

const flag = (description: string): JsonSchema => ({ type: 'boolean', description })
const text = (description: string): JsonSchema => ({ type: 'string', description })
const whole = (description: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  description,
  required: Object.keys(properties),
  properties,
})

const scheme = (name: string): JsonSchema =>
  whole(name, {
    present: flag('Whether its signature is among the headers.'),
    valid: flag('Whether a receiver that has this body, these headers and this secret accepts it.'),
  })

export const verifyAnswer: JsonSchema = whole('What a receiver is to make of it, and why.', {
  valid: flag('Whether nothing is wrong; findings is empty then.'),
  schemes: whole('Each signature by itself.', {
    service: scheme('X-Service-Signature.'),
    standard: scheme('webhook-id, webhook-timestamp and webhook-signature (Standard Webhooks).'),
  }),
  findings: {
    type: 'array',
    description: 'What is wrong, the closest explanation first.',
    items: whole('One fault.', {
      part: { type: 'string', description: 'What is wrong.', enum: [...PARTS] },
      code: { type: 'string', description: 'Names the fault.', enum: Object.keys(FINDINGS) },
      detail: text('What was found. Holds nothing of a secret or a body.'),
      next: text('What to do.'),
    }),
  },
})
