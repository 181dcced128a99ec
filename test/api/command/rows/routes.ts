/** The routes that may answer before what was asked is decided: those of all commands, and those that queue. */
import { allRoutes } from '../../../../api/wiring/routes.ts'
import { accountRows } from './accounts.ts'
import { appAndHostRows } from './apps.ts'
import { devInstanceRows } from './devinstances.ts'
import { invoiceRows } from './invoices.ts'
import type { TableRows, TableStage } from './row.ts'
import { siteRows } from './sites.ts'

export type TableRoute = Exclude<(typeof allRoutes)[number], { hidden: true }>

/** Resources that are made at a time. */
const WIDTH = 6

export const nameOf = ({ method, path }: TableRoute): string => `${method} ${path}`
const answering202 = allRoutes.filter(
  (route): route is TableRoute => !route.hidden && route.method !== 'GET' && 202 in route.answers,
)
/** Its 202 names an operation: it waits for a verdict. Any other 202 shows what is queued. */
const hasOperation = ({ answers }: TableRoute): boolean =>
  Object.keys(answers[202]?.schema?.properties ?? {}).includes('operation_id')
export const waiting = answering202.filter(hasOperation)
export const queuing = answering202.filter((route) => !hasOperation(route))

export const rowsOf = (stage: TableStage): TableRows => ({
  ...invoiceRows(stage),
  ...siteRows(stage),
  ...appAndHostRows(stage),
  ...devInstanceRows(stage),
  ...accountRows(stage),
})

/** In the order of the items, not more than WIDTH at a time. */
export const mapSome = async <Item, Out>(
  items: readonly Item[],
  of: (item: Item, n: number) => Promise<Out>,
): Promise<Out[]> => {
  const out: Out[] = []
  const left = [...items.entries()]
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) out[next[0]] = await of(next[1], next[0])
  }
  await Promise.all(Array.from({ length: WIDTH }, work))
  return out
}
