/**
 * Two roles in one database (rules/platform.md#database-roles): the owner of the tables, whom the controllers and the
 * migration are, and the api's, which may do what `sql/grants.sql` names and nothing else.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { DatabaseRefused, escapeIdentifier, escapeLiteral, type Pg, type Query } from './pg.ts'

type Login = { name: string; password: string }

const SCRAM_ITERATIONS = 4096
const SCRAM_SALT_BYTES = 16
/** PostgreSQL normalises other characters before it hashes them (SASLprep, RFC 4013), which is not done here. */
const PLAIN = /^[\x20-\x7e]+$/
/** Another migration, of another database of the server, made the role meanwhile. */
const MADE_MEANWHILE = ['42710', '23505']
const INSUFFICIENT_PRIVILEGE = '42501'

const loginOf = (url: string): Login => {
  const { username, password } = new URL(url)
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/** What PostgreSQL keeps of a password (RFC 5803): made here, so that no statement and no server log holds the password. */
const verifierOf = (password: string, salt: Buffer): string => {
  const salted = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, 32, 'sha256')
  const key = (name: string) => createHmac('sha256', salted).update(name).digest()
  const stored = createHash('sha256').update(key('Client Key')).digest('base64')
  const server = key('Server Key').toString('base64')
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`
}

const cannotCreate = (role: string, cause: Error): Error =>
  new Error(
    `There is no role ${role} for the api, and this one may not create it. Let an administrator of the database run: ` +
      `create role ${role} login password '…' nosuperuser nocreatedb nocreaterole`,
    { cause },
  )

const createRole = async (pool: Pg, { name, password }: Login): Promise<void> => {
  if (!PLAIN.test(password)) {
    throw new Error(`The password of role ${name} must be printable ASCII, or the role be created beforehand.`)
  }
  const verifier = escapeLiteral(verifierOf(password, randomBytes(SCRAM_SALT_BYTES)))
  const rights = 'login nosuperuser nocreatedb nocreaterole noreplication nobypassrls'
  const text = `create role ${escapeIdentifier(name)} ${rights} password ${verifier}`
  try {
    await pool.query('create_role', text)
  } catch (error) {
    if (!(error instanceof DatabaseRefused)) throw error
    if (MADE_MEANWHILE.includes(error.state)) return
    throw error.state === INSUFFICIENT_PRIVILEGE ? cannotCreate(name, error) : error
  }
}

/**
 * Makes the role that a URL of the api names, with its password, unless there is one: that keeps its password.
 * @returns its name
 * @throws Error when the URL names no role or the owner's, or when the role is absent and may not be created
 */
export const ensureApiRole = async (pool: Pg, apiUrl: string): Promise<string> => {
  const login = loginOf(apiUrl)
  if (login.name === '')
    throw new Error('The database URL of the api names no role, as in postgresql://role:password@…')
  const text = `select current_user = $1 as "isOwner", exists (select from pg_roles where rolname = $1) as "isThere"`
  const { rows } = await pool.query<{ isOwner: boolean; isThere: boolean }>('find_role', text, [login.name])
  if (rows[0]?.isOwner) {
    throw new Error(`The api's database URL names ${login.name}, which owns the tables: it needs a role of its own.`)
  }
  if (!rows[0]?.isThere) await createRole(pool, login)
  return login.name
}

/** Takes everything from the role, and gives it what `text` grants; `:"api"` in it stands for the role. */
export const grantTo = async (query: Query, text: string, role: string): Promise<void> => {
  await query('grant', text.replaceAll(':"api"', escapeIdentifier(role)))
}

const MAY_ALTER = `
select rolsuper or exists (
  select from pg_class c where c.relname = 'register' and c.relnamespace = 'public'::regnamespace
    and pg_has_role(current_user, c.relowner, 'usage')
) as "mayAlter"
from pg_roles where rolname = current_user`

/** Whether the role of these connections may alter the ledger's tables, and so undo what guards them. */
export const mayAlterTables = async (pool: Pg): Promise<boolean> =>
  (await pool.query<{ mayAlter: boolean }>('may_alter_tables', MAY_ALTER, [])).rows[0]?.mayAlter === true
