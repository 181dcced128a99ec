/** The one list of catalogues, in the order in which their entries are shown. A further kind adds a line here. */
import { HOST_PROBLEMS } from '../problems/hosts.ts'
import { APP_CATALOGUE } from './app.ts'
import { DEVINSTANCE_CATALOGUE } from './devinstance.ts'
import type { KindCatalogue } from './entry.ts'
import { INVOICE_CATALOGUE } from './invoice.ts'
import { ACCOUNT_CATALOGUE, COMMON_CATALOGUE, QUESTION_CATALOGUE, WEBHOOK_CATALOGUE } from './shared.ts'
import { SITE_CATALOGUE } from './site.ts'

const CATALOGUES = [
  COMMON_CATALOGUE,
  INVOICE_CATALOGUE,
  ACCOUNT_CATALOGUE,
  WEBHOOK_CATALOGUE,
  { problems: HOST_PROBLEMS },
  SITE_CATALOGUE,
  QUESTION_CATALOGUE,
  APP_CATALOGUE,
  DEVINSTANCE_CATALOGUE,
] as const satisfies readonly KindCatalogue[]

type Listed = (typeof CATALOGUES)[number]
type Part = Exclude<keyof KindCatalogue, 'events'>
type Entry<P extends Part> = NonNullable<KindCatalogue[P]>[string]

/** The names of one part over all catalogues. */
export type Catalogued<P extends Part> = Listed extends infer One
  ? One extends Record<P, infer Entries>
    ? keyof Entries & string
    : never
  : never

/** The names of events over all catalogues. */
export type CataloguedEvent = Listed extends infer One
  ? One extends { events: readonly (infer Name)[] }
    ? Name
    : never
  : never

const listed: readonly KindCatalogue[] = CATALOGUES

/** One part of all catalogues, in their order. */
export const catalogued = <P extends Part>(part: P): Record<Catalogued<P>, Entry<P>> =>
  Object.assign({}, ...listed.map((catalogue) => catalogue[part]))

export const CATALOGUED_EVENTS = listed.flatMap(({ events = [] }) => events) as readonly CataloguedEvent[]
