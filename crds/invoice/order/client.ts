/**
 * Where the recipient is and how the tax office knows them, and why nothing is charged: what an electronic invoice asks for
 * beside the document's own fields (EN 16931: BG-7, BG-8, BT-121). All of it is optional.
 */

import type { Fault } from '../../kernel/problem.ts'
import type { JsonSchema } from '../../kernel/rest.ts'
import type { Infer, ObjectSchema } from '../../kernel/schema.ts'
import { isCountry } from '../../values/countries.ts'
import type { Client, ZeroRate } from './frozen.ts'

const ADDRESS_MAX = 500
const CITY_MAX = 100
const POSTCODE_MAX = 20
const TAX_ID_MAX = 64
const REASON_MAX = 500

const line = (maxLength: number) => ({ type: 'string', maxLength, 'x-text': 'line' }) as const

const zeroRate = {
  type: 'object',
  title: 'ZeroRate',
  description: 'Why nothing is charged on the lines at 0 %.',
  required: ['category'],
  properties: {
    category: {
      type: 'string',
      description: 'Z zero-rated, E exempt, O outside the scope of VAT, AE reverse charge (UNTDID 5305).',
      enum: ['Z', 'E', 'O', 'AE'],
    },
    reason: {
      ...line(REASON_MAX),
      description: 'The ground, as the law calls it. E needs one; O and AE have words of their own without it.',
      default: '',
    },
  },
} as const satisfies ObjectSchema

/** Fields of the spec. */
export const clientFields = {
  clientAddress: {
    type: 'string',
    description: 'Address of the recipient, lines in one text.',
    maxLength: ADDRESS_MAX,
    'x-text': 'block',
  },
  clientCity: { ...line(CITY_MAX), description: 'City of the recipient.' },
  clientPostcode: { ...line(POSTCODE_MAX), description: 'Postcode of the recipient.' },
  clientCountry: {
    type: 'string',
    description: 'Country of the recipient by ISO 3166-1, two letters. An electronic invoice needs it.',
    maxLength: 2,
    pattern: '^[A-Z]{2}$',
  },
  clientTaxId: { ...line(TAX_ID_MAX), description: 'Tax number of the recipient. Reverse charge needs it.' },
  zeroRate,
} as const satisfies ObjectSchema['properties']

const shape = {
  type: 'object',
  description: 'What is added.',
  properties: clientFields,
} as const satisfies ObjectSchema

type ClientSpec = Infer<typeof shape>

/** One-line and many-line texts by their pointers, to be held against the patterns of texts. */
export const clientLines = (spec: ClientSpec): [string, string | undefined][] => [
  ['/clientCity', spec.clientCity],
  ['/clientPostcode', spec.clientPostcode],
  ['/clientTaxId', spec.clientTaxId],
  ['/zeroRate/reason', spec.zeroRate?.reason],
]

/** What the schema cannot say. */
export const clientFaults = ({ clientCountry }: ClientSpec): Fault[] =>
  clientCountry === undefined || isCountry(clientCountry)
    ? []
    : [
        {
          code: 'INVALID_FIELD',
          pointer: '/clientCountry',
          detail: `${JSON.stringify(clientCountry)} is no country of ISO 3166-1`,
        },
      ]

/** The recipient as frozen. */
export const clientOf = (spec: ClientSpec & { clientName?: string; clientEmail?: string }): Client => ({
  name: spec.clientName ?? '',
  email: spec.clientEmail ?? '',
  address: spec.clientAddress ?? '',
  city: spec.clientCity ?? '',
  postcode: spec.clientPostcode ?? '',
  country: spec.clientCountry ?? '',
  taxId: spec.clientTaxId ?? '',
})

/** What REST shows of it. */
export type ClientView = {
  client_address: string | null
  client_city: string | null
  client_postcode: string | null
  client_country: string | null
  client_tax_id: string | null
  zero_rate: ZeroRate | null
}

export const viewClient = (spec: ClientSpec): ClientView => ({
  client_address: spec.clientAddress ?? null,
  client_city: spec.clientCity ?? null,
  client_postcode: spec.clientPostcode ?? null,
  client_country: spec.clientCountry ?? null,
  client_tax_id: spec.clientTaxId ?? null,
  zero_rate: spec.zeroRate ?? null,
})

/** The JSON schema of `ClientView`. */
export const clientAnswer = (same: (name: string, nullable: boolean) => JsonSchema): Record<string, JsonSchema> =>
  Object.fromEntries(
    ['client_address', 'client_city', 'client_postcode', 'client_country', 'client_tax_id', 'zero_rate'].map((name) => [
      name,
      same(name, true),
    ]),
  )
