/** One page of a list: what every list is asked for by, how that is read, and how it is answered. */
import type { Page } from '../../controllers/store/pg/page.ts'
import { named } from '../../crds/kernel/named.ts'
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { text, whole } from './schemas.ts'

const LIMIT_DEFAULT = 50
/** `pageQuery` says the same to ajv: what is more is refused with the pointer /limit. */
const LIMIT_MAX = 200

/** What every list is asked for by. */
export const pageQuery = {
  limit: named('Limit', {
    ...text(`How many, 1 to ${LIMIT_MAX}; ${LIMIT_DEFAULT} when left out.`),
    pattern: '^([1-9]\\d?|1\\d\\d|200)$',
  }),
  offset: named('Offset', { ...text('How many to skip.'), pattern: '^\\d{1,9}$' }),
} satisfies Record<keyof Page, JsonSchema>

/** What every list says beside its items. */
export const paging = {
  total: whole('How many there are over all pages.'),
  limit: whole('As asked.'),
  offset: whole('As asked.'),
}

/** Of a request whose query fits `pageQuery`. */
export const pageOf = ({ query }: Pick<ApiRequest, 'query'>): Page => ({
  limit: Number(query.limit ?? LIMIT_DEFAULT),
  offset: Number(query.offset ?? 0),
})

/**
 * @param member of the body that has the items, as `invoices`
 * @param of.more members beside them
 */
export const pagedAnswer = (
  member: string,
  { items, total, more }: { items: readonly unknown[]; total: number; more?: object },
  page: Page,
): Answer => ({ status: 200, body: { [member]: items, total, ...page, ...more } })
