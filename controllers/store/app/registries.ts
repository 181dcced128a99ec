/** What opens registries to an account, sealed (rules/app.md#registries). The password is opened for a host that pulls or builds. */
import type { Sealer } from '../../base/seal.ts'
import type { Pg } from '../pg/pg.ts'

/** `host` as images name it, with its port; Docker Hub is `docker.io`. */
export type RegistryRow = { host: string; username: string; updatedAt: string }
export type RegistryLogin = { host: string; username: string; password: string }

export type Registries = {
  /** Sorted by host. */
  list(account: string): Promise<RegistryRow[]>
  /** A repeat replaces it. */
  put(account: string, login: RegistryLogin): Promise<RegistryRow>
  /** @returns whether there was one */
  remove(account: string, host: string): Promise<boolean>
  /** Sorted by host. @throws BadSeal */
  open(account: string): Promise<RegistryLogin[]>
}

/** What a sealed password belongs to. */
export const aboutRegistry = (account: string, host: string): string => JSON.stringify(['app registry', account, host])

const LIST = `select host, username, iso_ms(updated_at) as "updatedAt" from app_registries where account = $1 order by host`
const PUT = `insert into app_registries (account, host, username, sealed) values ($1, $2, $3, $4)
on conflict (account, host) do update set username = excluded.username, sealed = excluded.sealed, updated_at = now()
returning host, username, iso_ms(updated_at) as "updatedAt"`

/** @param deps.sealer for the purpose `app-registry` */
export const makeRegistries = ({ pg, sealer }: { pg: Pg; sealer: Sealer }): Registries => ({
  list: async (account) => (await pg.query<RegistryRow>('app_registries', LIST, [account])).rows,
  async put(account, { host, username, password }) {
    const sealed = sealer.seal(Buffer.from(password, 'utf8'), aboutRegistry(account, host))
    const { rows } = await pg.query<RegistryRow>('put_app_registry', PUT, [account, host, username, sealed])
    const row = rows[0]
    if (!row) throw new Error('put_app_registry gave no row')
    return row
  },
  async remove(account, host) {
    const text = 'delete from app_registries where account = $1 and host = $2 returning host'
    return (await pg.query('remove_app_registry', text, [account, host])).rows.length > 0
  },
  async open(account) {
    const text = 'select host, username, sealed from app_registries where account = $1 order by host'
    const { rows } = await pg.query<{ host: string; username: string; sealed: Buffer }>('open_app_registries', text, [
      account,
    ])
    return rows.map(({ host, username, sealed }) => ({
      host,
      username,
      password: sealer.open(sealed, aboutRegistry(account, host)).toString('utf8'),
    }))
  },
})
