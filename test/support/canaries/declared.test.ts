/** Every secret of the product belongs to a kind that is declared: a new one that is not fails here. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { API, COMMON, CONTROLLERS, KEYS, LIMITS, MIGRATION, RECONCILE, SMOKE } from '../../../controllers/base/env.ts'
import type { Field } from '../../../controllers/base/fields.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { SEALED } from '../../../controllers/store/installation/sealed.ts'
import { assert, spec } from '../runner/spec.ts'
import { readTree, root } from '../structure/tree.ts'
import { KEPT, kindOf, NOT_SEALED, SECRET_NAMES } from './kinds.ts'
import { READS } from './platform.ts'

const declared = (what: 'columns' | 'settings' | 'keys' | 'fields'): Set<string> =>
  new Set(SECRET_NAMES.flatMap((name) => kindOf(name)[what] ?? []))
const undeclared = (found: Iterable<string>, known: Set<string>): string[] =>
  [...found].filter((one) => !known.has(one))

/** Settings that tell nothing that is secret. */
const OPEN_SETTINGS =
  'NAMESPACE TENANTS HOME_NAMESPACE PUBLIC_URL METRICS_LISTEN EGRESS_ALLOW_LOOPBACK LOG_LEVEL PDF_RENDER DEV_CLOCK STRIPE_API_BASE MAIL_FROM MAIL_LANES PDF_THREADS INVOICE_RETENTION_DAYS HISTORY_HEAD_MINUTES ACCEPT_CLUSTER IDENTITY DNS_SERVERS POD_UID ADMIN_EMAIL LISTEN SIGN_UP SESSION_IDLE_MINUTES OIDC_ISSUER OIDC_CLIENT_ID LLM_URL LLM_MODEL LLM_TIMEOUT_SECONDS SMOKE_URL SMOKE_METRICS'
    .split(' ')
    .map((name) => `BOTTEGA_${name}`)
const settingsOf = (...all: object[]): string[] =>
  all.flatMap((fields) => Object.values(fields as Record<string, Field<unknown>>).map(({ name }) => name))

/** Names in a body that tell of a secret and hold none. */
const TELLING = /pass(word|phrase)|secret|token|private|credential|_key$|^key$|^env$/i
const OPEN_FIELDS: Record<string, string> = {
  host_key: 'a public key',
  public_key: 'a public key',
  key: 'a public key, made for one sealing',
  httpTokens: 'a setting of the machine',
  clientToken: 'names a request to the cloud, so that a repeat makes no second machine',
  previous_secret_until: 'an instant',
}

type Node = { properties?: Record<string, Node>; [word: string]: unknown }
const textsIn = (node: unknown, name = ''): string[] => {
  if (Array.isArray(node)) return node.flatMap((one) => textsIn(one, name))
  if (typeof node !== 'object' || node === null) return []
  const { properties = {}, ...words } = node as Node
  const isText = words.type === 'string' || (Array.isArray(words.type) && words.type.includes('string'))
  const isTexts = words.type === 'object' && (words.additionalProperties as Node | undefined)?.type === 'string'
  return [
    ...(isText || isTexts ? [name] : []),
    ...Object.entries(properties).flatMap(([inner, child]) => textsIn(child, inner)),
    ...Object.entries(words).flatMap(([word, child]) =>
      typeof child === 'object' ? textsIn(child, word === 'items' ? name : word) : [],
    ),
  ]
}

spec('kinds of secrets', (t) => {
  t('have every column that is sealed or hashed', () => {
    const kept = Object.values(KEPT)
    const hashed = Object.entries(NOT_SEALED).filter(([, why]) => kept.includes(why))
    const columns = [...SEALED.map(({ table, column }) => `${table}.${column}`), ...hashed.map(([place]) => place)]
    assert.equal(undeclared(columns, declared('columns')), [])
    assert.equal(undeclared(declared('columns'), new Set(columns)), [], 'a column that is gone')
    assert.equal(undeclared(['tokens.new_hash'], declared('columns')), ['tokens.new_hash'])
  })

  t('have every purpose that something is sealed for, and each is opened at the end of a platform', () => {
    const calls = /\.sealer\('([^']+)'\)|PURPOSE = '([^']+)'/g
    const used = [...readTree()]
      .filter(([path]) => /^(api|controllers)\/.*\.ts$/.test(path))
      .flatMap(([, text]) => [...text.matchAll(calls)].map(([, plain, named]) => plain ?? named ?? ''))
    assert.ok(used.length > 5, used.join())
    assert.equal(undeclared(new Set([...used, ...SEALED.map(({ purpose }) => purpose)]), new Set(READS)), [])
  })

  t('have every setting that is one', () => {
    const names = settingsOf(COMMON, CONTROLLERS, API, MIGRATION, KEYS, RECONCILE, SMOKE)
    const open = new Set([...OPEN_SETTINGS, ...settingsOf(LIMITS)])
    assert.equal(undeclared(names, new Set([...open, ...declared('settings')])), [])
    assert.equal(undeclared([...OPEN_SETTINGS, ...declared('settings')], new Set(names)), [], 'a setting that is gone')
  })

  t('have everything that derives from a root', () => {
    const made = Object.keys(keysOfOne(Buffer.alloc(32, 7)))
    assert.equal(undeclared(made, declared('keys')), [])
    assert.equal(undeclared(declared('keys'), new Set(made)), [], 'a key that is gone')
  })

  t('have every field of a body over REST whose name tells of one', () => {
    const names = globSync('api/openapi/*.json', { cwd: root })
    assert.ok(names.length >= 4, names.join())
    const documents = names.map((name) => JSON.parse(readFileSync(join(root, name), 'utf8')) as Node)
    const found = new Set(documents.flatMap((one) => textsIn(one)).filter((name) => TELLING.test(name)))
    assert.equal(undeclared(found, new Set([...declared('fields'), ...Object.keys(OPEN_FIELDS)])), [])
  })
})
