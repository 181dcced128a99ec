/**
 * What apps may use of their hosts: reserved in one transaction for each host, so that two never get the last of it; and on
 * which hosts an app is, while it moves and for as long as it is leaving one (rules/app.md#moves).
 */
import type { Budget } from '../../../crds/app/compose/project.ts'
import type { AppPlace } from '../../../crds/app/world.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'

export type RoomRequest = {
  app: string
  account: string
  host: string
  wanted: Budget
  /** What all apps of the host may have; null where that is not known. */
  limits: Budget | null
}

/** `held`: what the app had before. `others`: what all other apps of the host have. */
export type RoomOutcome = {
  outcome: 'taken' | 'held' | 'changed' | 'refused'
  held: Budget | null
  others: Budget
}

export type HostRooms = { apps: number; used: Budget; held: Budget | null }

export type AppRooms = {
  takeRoom(request: RoomRequest): Promise<RoomOutcome>
  /** Of an app that never came. */
  giveBackRoom(app: string): Promise<void>
  /** @param app whose own share is told, too; null for nobody's */
  rooms(host: string, app: string | null): Promise<HostRooms>
}

const TAKE = 'select outcome, held, others from take_app_room($1, $2, $3, $4, $5)'

export const makeAppRooms = ({ pg }: { pg: Pg }): AppRooms => ({
  async takeRoom({ app, account, host, wanted, limits }) {
    const values = [app, account, host, JSON.stringify(wanted), limits && JSON.stringify(limits)]
    const { rows } = await pg.query<RoomOutcome>('take_app_room', TAKE, values)
    if (!rows[0]) throw new Error('take_app_room gave no row')
    return rows[0]
  },
  async giveBackRoom(app) {
    await pg.query('give_back_app_room', 'select give_back_app_room($1)', [app])
  },
  async rooms(host, app) {
    const text = 'select apps::integer as apps, used, held from host_rooms($1, $2)'
    const { rows } = await pg.query<HostRooms>('host_rooms', text, [host, app])
    if (!rows[0]) throw new Error('host_rooms gave no row')
    return rows[0]
  },
})

/** `leaving`: it has left that host, and something of it is there still. `taken by another`: its name is. */
export type PlaceOutcome = {
  outcome: 'taken' | 'refused' | 'leaving' | 'taken by another'
  held: Budget | null
  others: Budget
}

export type AppPlaces = {
  /** Where it lives first; none before it has its name anywhere. */
  placesOf(app: string): Promise<AppPlace[]>
  /** Name and room on the host that it is about to move to; those that it has stay its own. @throws StaleEpoch */
  takePlace(request: RoomRequest & { slug: string }): Promise<PlaceOutcome>
  /** Nothing of it is left there. @throws StaleEpoch */
  dropPlace(app: string, host: string): Promise<void>
}

const PLACES = `select host, place, iso_ms(until) as until from app_slugs where app = $1 order by place = 'home' desc, host`
const TAKE_PLACE = 'select outcome, held, others from take_app_place($1, $2, $3, $4, $5, $6, $7, $8)'

export const makePlacesOf =
  (pg: Pg): AppPlaces['placesOf'] =>
  async (app) =>
    (await pg.query<AppPlace>('app_places', PLACES, [app])).rows

export const makeAppPlaces = ({ pg, epoch }: { pg: Pg; epoch: () => number }): AppPlaces => ({
  placesOf: makePlacesOf(pg),
  async takePlace({ app, account, host, slug, wanted, limits }) {
    const given = [app, account, host, slug, JSON.stringify(wanted), limits && JSON.stringify(limits)]
    const { rows } = await pg.query<PlaceOutcome>('take_app_place', TAKE_PLACE, [LEASE, epoch(), ...given])
    if (!rows[0]) throw new Error('take_app_place gave no row')
    return rows[0]
  },
  async dropPlace(app, host) {
    await pg.query('drop_app_place', 'select drop_app_place($1, $2, $3, $4)', [LEASE, epoch(), app, host])
  },
})
