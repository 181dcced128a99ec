/** Environments of dev instances, sealed, and to which key of its machine each was brought (rules/devinstance.md#how-the-environment-comes). */
import type { Pg } from '../pg/pg.ts'

/** `again`: to the same key. `refused` is told once. */
export type Bringing = 'brought' | 'again' | 'refused' | 'refused before'
export type SealedEnv = { wrappedKey: Buffer; sealed: Buffer }

export type Envs = {
  putEnv(resource: string, key: string, env: SealedEnv): Promise<void>
  dropEnv(resource: string, key: string): Promise<void>
  env(resource: string, key: string): Promise<SealedEnv | null>
  /** Whether an environment may be sealed to a key (sql/functions/bring_devbox_env.sql). @param asked.recipient digest of the key */
  bringEnv(resource: string, asked: { version: string; recipient: string; at: string }): Promise<Bringing>
  /** The machine has said that it has it: it is brought no more. */
  holdsEnv(resource: string, version: string, at: string): Promise<void>
}

/** Not for one that is gone: nothing would ever erase it. */
const PUT_ENV = `
insert into devbox_envs (resource, key, wrapped_key, sealed)
select $1, $2, $3, $4
where exists (select from devboxes d where d.resource = $1 and d.deleted_at is null and d.box ->> 'state' <> 'terminated')
on conflict (resource, key) do update set wrapped_key = excluded.wrapped_key, sealed = excluded.sealed`
const DROP_ENV = 'delete from devbox_envs where resource = $1 and key = $2'
const ENV = 'select wrapped_key as "wrappedKey", sealed from devbox_envs where resource = $1 and key = $2'
const BRING_ENV = 'select bring_devbox_env($1, $2, $3, $4) as outcome'
const HOLDS_ENV = `
update devbox_env_fetches set held_at = $3 where resource = $1 and version = $2 and held_at is null`

export const makeEnvs = ({ pg }: { pg: Pg }): Envs => {
  const first = async <Row>(name: string, text: string, values: unknown[]): Promise<Row | null> =>
    (await pg.query<Row>(name, text, values)).rows[0] ?? null
  return {
    async putEnv(resource, key, { wrappedKey, sealed }) {
      await pg.query('put_devbox_env', PUT_ENV, [resource, key, wrappedKey, sealed])
    },
    async dropEnv(resource, key) {
      await pg.query('drop_devbox_env', DROP_ENV, [resource, key])
    },
    env: (resource, key) => first('devbox_env', ENV, [resource, key]),
    async bringEnv(resource, { version, recipient, at }) {
      const found = await first<{ outcome: Bringing }>('bring_devbox_env', BRING_ENV, [
        resource,
        version,
        recipient,
        at,
      ])
      if (!found) throw new Error('bring_devbox_env gave no answer')
      return found.outcome
    },
    async holdsEnv(resource, version, at) {
      await pg.query('devbox_holds_env', HOLDS_ENV, [resource, version, at])
    },
  }
}
