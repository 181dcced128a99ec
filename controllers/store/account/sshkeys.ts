/** Public keys of people, and which of them open a dev instance (rules/account.md#ssh-keys). */
import { AUTHORIZED_KEYS_MAX, type AuthorizedKey } from '../../../crds/devinstance/bootstrap/authorized.ts'
import type { Pg } from '../pg/pg.ts'

/** `changedAt` ISO. */
export type SshKeyRow = { id: string; name: string; line: string; fingerprint: string; changedAt: string }
export type Added = { outcome: 'added' | 'full' } | { outcome: 'known'; id: string }

export type SshKeys = {
  /** Newest first. */
  list(account: string): Promise<SshKeyRow[]>
  /** @param max how many an account may have */
  add(account: string, key: SshKeyRow, max: number): Promise<Added>
  /** @returns whether there was one */
  remove(account: string, id: string): Promise<boolean>
  /**
   * The keys that open a dev instance: its owner's, and with `teams` those of the members of its teams; by account and
   * fingerprint, at most AUTHORIZED_KEYS_MAX, the owner's first.
   */
  opening(resource: string, asked: { teams: boolean }): Promise<AuthorizedKey[]>
}

const LIST = `
select id, name, line, fingerprint, iso_ms(changed_at) as "changedAt"
from account_ssh_keys where account = $1 order by changed_at desc, id`
const ADD = 'select outcome, id from add_ssh_key($1, $2, $3, $4, $5, $6, $7)'
const REMOVE = 'delete from account_ssh_keys where account = $1 and id = $2 returning id'
/** A member is who the Account's resource says it is; of an account that is gone there is no row in the mirror. */
const OPENING = `
select k.account, k.name, k.line, k.fingerprint
from devboxes d join account_ssh_keys k on k.account = d.account or $2 and k.account in (
  select m.account from mirror m where m.kind = 'Account' and (m.view -> 'teams')::jsonb ?| d.teams
)
where d.resource = $1 and d.deleted_at is null
order by k.account <> d.account, k.account, k.fingerprint
limit ${AUTHORIZED_KEYS_MAX}`

export const makeSshKeys = ({ pg }: { pg: Pg }): SshKeys => ({
  list: async (account) => (await pg.query<SshKeyRow>('ssh_keys', LIST, [account])).rows,
  async add(account, { id, name, line, fingerprint, changedAt }, max) {
    const values = [account, id, name, line, fingerprint, changedAt, max]
    const added = (await pg.query<Added>('add_ssh_key', ADD, values)).rows[0]
    if (!added) throw new Error('add_ssh_key gave no row')
    return added
  },
  remove: async (account, id) => (await pg.query('remove_ssh_key', REMOVE, [account, id])).rows.length > 0,
  opening: async (resource, { teams }) =>
    (await pg.query<AuthorizedKey>('ssh_keys_opening', OPENING, [resource, teams])).rows,
})
