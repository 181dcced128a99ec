/** The secrets of a running platform: those that it is given, and those that it has sealed by its end. */
import { readFileSync } from 'node:fs'
import { makeVault } from '../../../api/devinstance/vault.ts'
import type { Keys } from '../../../controllers/base/keys.ts'
import { SEALED, type SealedColumn, type SealedKey } from '../../../controllers/store/installation/sealed.ts'
import { withConnection } from '../../../hack/platform/postgres.ts'
import { credentialsIn, isMarked, linesOfKey } from './answers.ts'
import { SECRETS, type SecretName } from './kinds.ts'
import { CANARIES_VARIABLE, plant, plantLong } from './plant.ts'

const ofUrl = (url: string): string[] => [decodeURIComponent(new URL(url).password)].filter((one) => one !== '')
const ofRing = (text: string): Buffer[] => text.split(/[\s,]+/).map((one) => Buffer.from(one, 'base64'))
const ofKubeconfig = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/"?token"?: "?([\w.-]+)/g)].flatMap(([, token]) => token ?? [])

const READ: Partial<Record<SecretName, (given: string) => readonly (string | Buffer)[]>> = {
  'key of the ring': ofRing,
  'password of the database': ofUrl,
  'password of the mail server': ofUrl,
  'token of the cluster': ofKubeconfig,
}

/** @param env of a process, as it is started */
export const plantSettings = (env: Readonly<Record<string, string | undefined>>): void => {
  for (const [name, { settings }] of Object.entries(SECRETS) as [SecretName, { settings?: readonly string[] }][])
    for (const given of (settings ?? []).flatMap((one) => env[one] ?? []))
      for (const secret of (READ[name] ?? ((text) => [text]))(given)) plantLong(name, secret)
}

type Row = Record<string, unknown>
const valuesIn = (plain: Buffer): string[] => {
  const found: string[] = []
  JSON.parse(plain.toString('utf8'), (_key, value) => {
    if (isMarked(value)) found.push(value)
    return value
  })
  return found
}

/** What was sealed, by its purpose, as texts that can be looked for. */
const OPENED: Record<string, { kind: SecretName; read(plain: Buffer, row: Row): readonly (string | Buffer)[] }> = {
  root: { kind: 'root', read: (plain) => [plain] },
  'host-credential': { kind: 'private key of a host', read: (plain) => linesOfKey(plain.toString('utf8')) },
  'session-keys': { kind: 'session key', read: (plain) => [plain] },
  'webhook-secret': { kind: 'webhook secret', read: (plain) => credentialsIn(plain.toString('utf8')) },
  'app-env': { kind: 'env of an app', read: valuesIn },
  'app-release': { kind: 'env of an app', read: (plain) => plain.toString('utf8').match(/canary-[\w-]+/g) ?? [] },
  'app-registry': { kind: 'login for a registry', read: (plain) => [plain] },
  'site-message': { kind: 'message of a visitor', read: valuesIn },
  idempotency: { kind: 'kept answer', read: (plain) => credentialsIn(plain.toString('utf8')) },
  operation: { kind: 'kept answer', read: (plain) => credentialsIn(plain.toString('utf8')) },
}

/** Purposes of which nothing is read: the env of a dev instance lies under a data key of its own. */
export const READS: readonly string[] = [...Object.keys(OPENED), 'devbox-env']

type Run = (sql: string) => Promise<Row[]>

const openColumn = async (
  run: Run,
  keys: Keys,
  { table, column, purpose, key, about }: SealedColumn,
): Promise<void> => {
  const opened = OPENED[purpose]
  if (opened === undefined) return
  const names = Object.keys(key).join(', ')
  const rows = await run(`select ${names}, ${column} as sealed from ${table} where ${column} is not null limit 200`)
  for (const row of rows) {
    const plain = openOr(() => keys.sealer(purpose).open(row.sealed as Buffer, about(row as SealedKey)))
    if (plain !== null) for (const secret of opened.read(plain, row)) plantLong(opened.kind, secret)
  }
}

/** What a test has spoilt on purpose, or sealed under a key that went. */
const openOr = (open: () => Buffer): Buffer | null => {
  try {
    return open()
  } catch {
    return null
  }
}

const openBoxes = async (run: Run, keys: Keys): Promise<void> => {
  const rows = await run('select resource, wrapped_key as "wrappedKey", sealed from devbox_envs limit 200')
  for (const { resource, ...sealed } of rows as { resource: string; wrappedKey: Buffer; sealed: Buffer }[]) {
    const plain = openOr(() => Buffer.from(JSON.stringify(makeVault(keys).open(resource, sealed))))
    if (plain !== null) for (const value of valuesIn(plain)) plant('env of a dev instance', value)
  }
}

const derive = async (run: Run, keys: Keys): Promise<void> => {
  const macOf = (token: string): string => token.slice(token.lastIndexOf('.') + 1)
  const apps = await run('select app from app_slugs where app is not null limit 50')
  for (const { app } of apps) plant('gate of an app', macOf(keys.gateToken(String(app))))
}

/** Of a server that a test has ended, of keys that it took away, of tables that are not there. */
const DUE =
  /ECONNREFUSED|terminat|onnect|starting up|shutting down|does not exist|BOTTEGA_SECRET_KEY|KEY_UNKNOWN|sealed under/i

/** Everything that a database holds sealed, and what derives from its keys. @param open of its keys, as they are by then */
export const plantSealed = async (url: string, open: () => Promise<Keys>): Promise<void> => {
  if (process.env[CANARIES_VARIABLE] === undefined) return
  try {
    await withConnection(url, async (run) => {
      const keys = await open()
      for (const column of SEALED) await openColumn(run, keys, column)
      await openBoxes(run, keys)
      await derive(run, keys)
    })
  } catch (error) {
    if (!(error instanceof Error && DUE.test(`${error.message} ${error.name}`))) throw error
  }
}
