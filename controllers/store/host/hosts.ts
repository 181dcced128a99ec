/** What is stored of hosts beside their resources: sealed private keys, and the routes that their proxies are to serve. */

import { createHmac } from 'node:crypto'
import { GATE_HEADER } from '../../../crds/app/lifecycle/route.ts'
import type { CertificateName, CertificateUse } from '../../../crds/host/calimits.ts'
import type { HostView } from '../../../crds/host/view.ts'
import { CLASSES_FOR_ALL, PLATFORM } from '../../../crds/kernel/fields.ts'
import type { Keys } from '../../base/keys.ts'
import { LEASE } from '../pg/fence.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'

export type HostCredentials = {
  /** Written before the spec names the version; a repeat replaces it. @returns whether there was none of this version */
  put(host: string, version: number, privateKey: string): Promise<boolean>
  /** Of a version that no spec names, for certain. */
  takeBack(host: string, version: number): Promise<void>
  /** The newest version that is this very key; null when none is. */
  versionOf(host: string, privateKey: string): Promise<number | null>
  /** Null when there is none. @throws BadSeal */
  open(host: string, version: number): Promise<string | null>
}

/** What a sealed private key belongs to. */
export const aboutCredential = (host: string, version: number): string => `Host/${host}/${version}`

export type CredentialKeys = Pick<Keys, 'sealer' | 'lastingKey'>

export const makeCredentials = ({ pg, keys }: { pg: Pg; keys: CredentialKeys }): HostCredentials => {
  const sealer = keys.sealer('host-credential')
  const markKey = keys.lastingKey('mark/host-credential')
  const markOf = (host: string, privateKey: string): Buffer =>
    createHmac('sha256', markKey)
      .update(JSON.stringify([host, privateKey]))
      .digest()
  return {
    async put(host, version, privateKey) {
      const sealed = sealer.seal(Buffer.from(privateKey), aboutCredential(host, version))
      const text = 'select put_host_credential($1, $2, $3, $4) as fresh'
      const values = [host, version, sealed, markOf(host, privateKey)]
      return (await pg.query<{ fresh: boolean }>('put_host_credential', text, values)).rows[0]?.fresh ?? false
    },
    async takeBack(host, version) {
      await pg.query('take_back_host_credential', 'select take_back_host_credential($1, $2)', [host, version])
    },
    async versionOf(host, privateKey) {
      const text = 'select host_credential_version($1, $2) as version'
      const values = [host, markOf(host, privateKey)]
      return (
        (await pg.query<{ version: number | null }>('host_credential_version', text, values)).rows[0]?.version ?? null
      )
    },
    async open(host, version) {
      const text = 'select sealed from host_credentials where host = $1 and version = $2'
      const { rows } = await pg.query<{ sealed: Buffer }>('host_credential', text, [host, version])
      const sealed = rows[0]?.sealed
      return sealed === undefined ? null : sealer.open(sealed, aboutCredential(host, version)).toString()
    },
  }
}

/** `handle` is a list of Caddy handlers for exactly these hostnames; `owner` is `Kind/name`. */
export type RouteRow = { id: string; owner: string; hostnames: readonly string[]; handle: readonly unknown[] }

/** The primary key of host_names: another route of the host has the hostname. */
export const NAME_TAKEN = 'host_names_pkey'

/** Names that `owner` (`Kind/name`) asks a CA for, on a host. */
export type CertificateOrder = { host: string; ca: string; owner: string; names: readonly CertificateName[] }

export type RouteRows = {
  /** In the order of their ids. */
  list(host: string): Promise<RouteRow[]>
  get(host: string, id: string): Promise<RouteRow | null>
  /** @returns whether anything differed @throws DatabaseRefused with the constraint NAME_TAKEN, StaleEpoch */
  put(host: string, row: RouteRow): Promise<boolean>
  remove(host: string, id: string): Promise<boolean>
  /**
   * Takes places for new certificates, all or none. @param perWeek null records only @param at ISO
   * @returns what stands in the way @throws StaleEpoch
   */
  order(of: CertificateOrder, perWeek: number | null, at: string): Promise<CertificateUse[]>
  /** Routes and private keys of a host that is gone. */
  forget(host: string): Promise<void>
}

const ONE = 'select id, owner, hostnames, handle from host_routes where host = $1 and id = $2'
const ALL = 'select id, owner, hostnames, handle from host_routes where host = $1 order by id'
const PUT = 'select changed from put_host_route($1, $2, $3, $4, $5, $6, $7)'

const USE = 'root, fresh, used, iso_ms(free_at) as "freeAt"'
const ORDER = `select ${USE} from order_certificates($1, $2, $3)`

const APP_OWNER = 'App/'

/** A copy of the database opens nothing: by its gate token an app's proxy is believed, so a row has none, wherever a route names it. */
const withGate = (row: RouteRow, token: string): RouteRow => ({
  ...row,
  handle: JSON.parse(JSON.stringify(row.handle), (name, value) => (name === GATE_HEADER ? [token] : value)),
})

const asGiven =
  ({ gateToken }: Pick<Keys, 'gateToken'>) =>
  (row: RouteRow): RouteRow =>
    row.owner.startsWith(APP_OWNER) ? withGate(row, gateToken(row.owner.slice(APP_OWNER.length))) : row

type RouteRowsDeps = { pg: Pg; epoch: () => number; keys: Pick<Keys, 'gateToken'> }

/** Gate tokens are no part of a row: each is derived where a row is read, of the app that owns the route. */
export const makeRouteRows = ({ pg, epoch, keys }: RouteRowsDeps): RouteRows => ({
  list: async (host) => (await pg.query<RouteRow>('host_routes', ALL, [host])).rows.map(asGiven(keys)),
  get: async (host, id) => (await pg.query<RouteRow>('host_route', ONE, [host, id])).rows.map(asGiven(keys))[0] ?? null,
  async put(host, row) {
    const { id, owner, hostnames, handle } = withGate(row, '')
    const values = [LEASE, epoch(), host, id, owner, hostnames, JSON.stringify(handle)]
    const { rows } = await pg.query<{ changed: boolean }>('put_host_route', PUT, values)
    return rows[0]?.changed ?? false
  },
  async remove(host, id) {
    const text = 'select removed from remove_host_route($1, $2, $3, $4)'
    const { rows } = await pg.query<{ removed: boolean }>('remove_host_route', text, [LEASE, epoch(), host, id])
    return rows[0]?.removed ?? false
  },
  async order(of, perWeek, at) {
    const given = JSON.stringify({ ...of, limit: perWeek, now: at })
    return (await pg.query<CertificateUse>('order_certificates', ORDER, [LEASE, epoch(), given])).rows
  },
  async forget(host) {
    await pg.query('forget_host', 'select forget_host($1, $2, $3)', [LEASE, epoch(), host])
  },
})

/** Who asks for hosts: those of an account with those that all may use, or (null) every one. */
export type HostReader = {
  /** Newest first, and how many there are in all. */
  list(account: string | null, page: Page): Promise<{ hosts: { account: string; view: HostView }[]; total: number }>
  /** What lives on it; apps that have left it too, for as long as something of them is there. */
  living(host: string): Promise<HostLiving>
  /** Whether an app or a site lives on the host. */
  isInUse(host: string): Promise<boolean>
}

const SEEN = `
from mirror m
where m.kind = 'Host'
  and ($1::text is null or m.account = $1 or (m.account = '${PLATFORM}' and m.view ->> 'class' = any ('{${CLASSES_FOR_ALL.join()}}')))`
const LIST = `
select
  (select count(*) ${SEEN}) as total,
  (
    select coalesce(json_agg(json_build_object('account', p.account, 'view', p.view)), '[]')
    from (select m.account, m.view ${SEEN} order by m.created_at desc, m.place desc limit $2 offset $3) p
  ) as hosts`
export type HostLiving = {
  apps: { id: string; account: string; slug: string; status: string; is_leaving: boolean }[]
  sites: { id: string; hostnames: string[] }[]
}

const LIVING_MAX = 1_000
const LIVING = `
select
  (
    select coalesce(json_agg(a order by a.id), '[]')
    from (
      select m.name as id, m.account, m.view ->> 'slug' as slug, m.view ->> 'status' as status,
        m.view ->> 'host_id' <> $1 as is_leaving
      from mirror m
      where m.kind = 'App' and not m.archived
        and (m.view ->> 'host_id' = $1 or (m.view -> 'left_hosts')::jsonb @> jsonb_build_array(jsonb_build_object('host_id', $1::text)))
      order by m.name limit ${LIVING_MAX}
    ) a
  ) as apps,
  (
    select coalesce(json_agg(s order by s.id), '[]')
    from (
      select substr(r.owner, 6) as id, r.hostnames from host_routes r
      where r.host = $1 and r.owner like 'Site/%' order by r.owner limit ${LIVING_MAX}
    ) s
  ) as sites`
const IN_USE = `
select exists (select from host_routes r where r.host = $1)
  or exists (
    select from mirror m where m.kind in ('App', 'Site') and not m.archived and m.view ->> 'host_id' = $1
  ) as used`

export const makeHostReader = ({ pg }: { pg: Pg }): HostReader => ({
  async list(account, { limit, offset }) {
    const { rows } = await pg.query<{ hosts: { account: string; view: HostView }[]; total: number }>(
      'hosts_list',
      LIST,
      [account, limit, offset],
    )
    return rows[0] ?? { hosts: [], total: 0 }
  },
  async living(host) {
    const { rows } = await pg.query<HostLiving>('host_living', LIVING, [host])
    return rows[0] ?? { apps: [], sites: [] }
  },
  async isInUse(host) {
    const { rows } = await pg.query<{ used: boolean }>('host_in_use', IN_USE, [host])
    return rows[0]?.used ?? false
  },
})
