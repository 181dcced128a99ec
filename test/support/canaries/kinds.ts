/**
 * Every kind of secret that the platform is given or makes. What the product seals, hashes, derives, reads from its settings or takes
 * over REST belongs to one of them, or is named here as no secret: a test compares both ways (declared.test.ts). In a run every
 * secret of each kind is noted, and at its end looked for in all that the run wrote (judge.ts).
 */

/** Where the run wrote something. */
export const PLACES = {
  log: 'a log of a process, of PostgreSQL, of the API server or of a host',
  database: 'a column that is not sealed',
  cluster: 'etcd: specs, status and Events as they ever were',
  metrics: 'a page of metrics',
  mail: 'a mail',
  refusal: 'the body of a refusal',
  operation: 'what an operation came to',
} as const
export type Place = keyof typeof PLACES

export type SecretKind = {
  /** Columns that hold it sealed or hashed, as `table.column`. */
  columns?: readonly string[]
  settings?: readonly string[]
  /** What derives, recognises or seals it (controllers/base/keys.ts). */
  keys?: readonly string[]
  /** By what name a body over REST holds it. */
  fields?: readonly string[]
  /** Where it may be found, and why. */
  allowed?: Partial<Record<Place, string>>
  /** To how many a mail may bring it: one, unless this says more. */
  recipientsMax?: number
}

const SHOWN_ONCE = 'the outcome is sealed, and shows whoever asked what the answer would have shown'
const SHOWN = 'stands in the status on purpose: who reads the resource may follow it'

export const SECRETS = {
  'key of the ring': { settings: ['BOTTEGA_SECRET_KEY'], keys: ['ring'] },
  root: {
    columns: ['roots.sealed'],
    keys: ['installation', 'resourceName', 'lastingKey', 'signingSeeds', 'drawn', 'sealer'],
  },
  token: {
    columns: ['tokens.secret_hash', 'tokens.previous_hash'],
    settings: ['BOTTEGA_SMOKE_TOKEN'],
    keys: ['tokenHash'],
    fields: ['secret'],
    allowed: { operation: SHOWN_ONCE },
  },
  'report token': {
    columns: ['devboxes.token_hash'],
    fields: ['token', 'reportToken'],
    allowed: { operation: SHOWN_ONCE },
  },
  session: {},
  'session key': { columns: ['session_keys.sealed'] },
  'form token': { keys: ['formToken', 'formTokenFits'] },
  'link to sign in': {
    keys: ['signinToken', 'signinOfToken'],
    allowed: { mail: 'is mailed to the one who signs in' },
  },
  'visit of a provider': { keys: ['visitSealer'] },
  'webhook secret': {
    columns: ['webhook_endpoints.secret', 'webhook_endpoints.previous_secret'],
    fields: ['secret'],
    allowed: { operation: SHOWN_ONCE },
  },
  'private key of a host': { columns: ['host_credentials.sealed', 'host_credentials.mark'], fields: ['private_key'] },
  'env of an app': { columns: ['app_env.sealed', 'app_releases.sealed', 'app_runs.sealed'], fields: ['env'] },
  'password of an app': { columns: ['app_passwords.hash', 'app_passwords.salt'], fields: ['password'] },
  'login for a registry': { columns: ['app_registries.sealed'], fields: ['password'] },
  'visit of an app': { keys: ['accessSession', 'accessSessionOpens'] },
  'gate of an app': { keys: ['gateToken', 'appOfGate'] },
  'env of a dev instance': { columns: ['devbox_envs.wrapped_key', 'devbox_envs.sealed'], fields: ['env'] },
  'kept answer': {
    columns: ['idempotency.sealed', 'idempotency.fingerprint', 'operations.goal', 'operations.outcome'],
    allowed: { operation: SHOWN_ONCE, mail: 'is the password of a page as well' },
  },
  'password of a page': {
    keys: ['password', 'passwordOpens'],
    fields: ['password'],
    allowed: { mail: 'is mailed to the client', operation: SHOWN_ONCE },
  },
  'link to a page': {
    keys: ['linkToken', 'nameOfLink'],
    allowed: {
      cluster: `${SHOWN}; it opens nothing without the password`,
      database: 'the mirror of that status',
      mail: 'is mailed to the client, and to whoever invoices where money is reported',
      operation: SHOWN_ONCE,
      refusal: 'the page at that link, which asks for the password',
    },
    recipientsMax: 2,
  },
  'visit of a page': { keys: ['pageSession', 'pageSessionOpens'] },
  'link to a preview': {
    keys: ['capability', 'nameOfCapability'],
    allowed: { cluster: SHOWN, database: 'the mirror of that status', operation: SHOWN_ONCE },
  },
  'link to a review': {
    keys: ['capability', 'nameOfCapability'],
    allowed: { cluster: SHOWN, database: 'the mirror of that status', operation: SHOWN_ONCE },
  },
  'message of a visitor': {
    columns: ['site_messages.sealed', 'site_messages.key'],
    allowed: { mail: 'is mailed to whoever the site belongs to', refusal: 'the form as it was filled in' },
  },
  'password of the database': { settings: ['BOTTEGA_DATABASE_URL', 'BOTTEGA_API_DATABASE_URL'] },
  'password of the mail server': { settings: ['BOTTEGA_SMTP_URL'] },
  'key of the card processor': { settings: ['BOTTEGA_STRIPE_SECRET_KEY'] },
  'secret of the card processor': { settings: ['BOTTEGA_STRIPE_WEBHOOK_SECRET'] },
  'secret of the provider': { settings: ['BOTTEGA_OIDC_CLIENT_SECRET'] },
  'key of the model': { settings: ['BOTTEGA_LLM_KEY'] },
  'token of the cluster': { settings: ['KUBECONFIG'] },
} as const satisfies Record<string, SecretKind>

export type SecretName = keyof typeof SECRETS
export const SECRET_NAMES = Object.keys(SECRETS) as SecretName[]
export const kindOf = (name: SecretName): SecretKind => SECRETS[name]

/** Columns of bytes that hold no sealed value, and why. What begins with KEPT belongs to a kind of secret all the same. */
export const KEPT = {
  hash: 'keyed hash, under the first root',
  scrypt: 'scrypt',
  wrapped: 'under the data key beside it',
}
export const NOT_SEALED: Record<string, string> = {
  'app_passwords.hash': KEPT.scrypt,
  'app_passwords.salt': KEPT.scrypt,
  'audit.hash': 'chain',
  'audit_heads.head_hash': 'chain',
  'app_backup_parts.sha256': 'digest',
  'blob_chunks.content': 'content of blobs',
  'blob_chunks.sha256': 'digest',
  'blobs.sha256': 'digest',
  'devbox_envs.sealed': KEPT.wrapped,
  'devboxes.token_hash': KEPT.hash,
  'history_heads.head': 'chain',
  'host_credentials.mark': KEPT.hash,
  'idempotency.fingerprint': KEPT.hash,
  'register.hash': 'chain',
  'sends.sha256': 'digest',
  'site_messages.key': KEPT.hash,
  'series.head_hash': 'chain',
  'snapshots.sha256': 'digest',
  'tokens.previous_hash': KEPT.hash,
  'tokens.secret_hash': KEPT.hash,
}
