import crypto, { randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { type Authentication, makeAuth, REMEMBER_MS } from '../../../api/auth/auth.ts'
import { withoutCredentials } from '../../../api/auth/credentials.ts'
import { makeTokenStore, TOKENS_MAX, type TokenStore } from '../../../api/auth/token-store.ts'
import { makeTokenUse } from '../../../api/auth/token-use.ts'
import { matches, mintToken, newToken, parseToken } from '../../../api/auth/tokens.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { openKeys } from '../../../controllers/store/installation/open.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const key = randomBytes(32)
const keys = keysOfOne(key)
const hash = keys.tokenHash

spec('a token', (t) => {
  t('has 160 random bits and never comes twice', () => {
    const made = Array.from({ length: 2_000 }, () => newToken())
    assert.is(new Set(made.map(({ token }) => token)).size, made.length)
    for (const { id, secret, token } of made) {
      assert.is(Buffer.from(secret, 'base64url').length, 20)
      assert.equal(parseToken(token), { ok: true, id, secret })
    }
  })

  t('with any one character wrong is known for a typing error, without a look-up', () => {
    const { token } = newToken()
    for (let at = 'btg_'.length; at < token.length; at++) {
      if (at === 'btg_0123456789abcdef'.length) continue
      const typo = `${token.slice(0, at)}${token[at] === '5' ? '6' : '5'}${token.slice(at + 1)}`
      assert.equal(parseToken(typo), { ok: false, fault: 'checksum' }, typo)
    }
  })

  t('of the first form, without a checksum, still parses; anything else does not', () => {
    const { id, secret, token } = newToken()
    assert.equal(parseToken(`btg_${id}_${secret}`), { ok: true, id, secret })
    for (const text of ['', 'btg_', `${token}x`, token.slice(1), `btg_${id.toUpperCase()}_${secret}`, ` ${token}`]) {
      assert.equal(parseToken(text), { ok: false, fault: 'form' }, text)
    }
  })

  t('is blotted out of a text into which it was pasted, and the words round it stay', () => {
    const { token } = newToken()
    const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`
    const texts = [token, token.slice(0, 20), token.replace('btg_', 'dbr_'), `whsec_${'x'.repeat(20)}`, jwt]
    for (const text of texts) {
      assert.is(withoutCredentials(`There is no invoice ${text}.`), 'There is no invoice [credential].')
    }
    assert.is(withoutCredentials('The form is btg_<id>_<secret>.'), 'The form is btg_<id>_<secret>.')
  })

  t(
    'is blotted out by one look from the beginning to the end, as a pattern that looked anew at each head did it',
    () => {
      const old = (text: string) =>
        text.replace(/(btg|whsec)_[\w-]{8,}|dbr_[\w.-]{7,}\w|eyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g, '[credential]')
      const pieces = ['btg_', 'whsec_', 'dbr_', 'eyJ', 'eyJeyJ', 'abcd1234', 'xy', '-', '.', '..', ' ', '_', '/', 'é']
      const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 16 }).map((parts) => parts.join(''))
      fc.assert(
        fc.property(texts, (text) => assert.is(withoutCredentials(text), old(text))),
        { numRuns: 5000 },
      )
      // each of these heads made the pattern look through the rest of the text
      const path = 'eyJx'.repeat(500_000)
      assert.is(withoutCredentials(path), path)
      assert.is(withoutCredentials(`${path}.b.c`), '[credential]')
    },
  )

  t('hashes differently under another server key', () => {
    const { secret } = newToken()
    assert.not.equal(hash(secret), keysOfOne(randomBytes(32)).tokenHash(secret))
  })

  t('opens with the current or the previous secret only, and never with what stands for nobody', () => {
    const [current, previous, other] = [hash('a'), hash('b'), hash('c')]
    assert.equal(matches(current, current, previous), { current: true, previous: false })
    assert.equal(matches(previous, current, previous), { current: false, previous: true })
    assert.equal(matches(other, current, previous), { current: false, previous: false })
    assert.equal(matches(Buffer.alloc(32), undefined, null), { current: false, previous: false })
  })

  t(
    'compares the whole of two hashes in constant time whichever byte is wrong, and when there is nothing to compare with',
    () => {
      const right = hash('right')
      const wrongAt = (byte: number) => {
        const copy = Buffer.from(right)
        copy[byte] = (copy[byte] ?? 0) ^ 1
        return copy
      }
      const cases: [string, Buffer | undefined][] = [
        ['first byte', wrongAt(0)],
        ['last byte', wrongAt(31)],
        ['nobody', undefined],
      ]
      // every module that named it sees what stands here
      const real = crypto.timingSafeEqual
      const compared: [number, number][] = []
      crypto.timingSafeEqual = (one, other) => {
        compared.push([one.byteLength, other.byteLength])
        return real(one, other)
      }
      syncBuiltinESMExports()
      try {
        for (const [name, kept] of cases) {
          compared.length = 0
          matches(right, kept, null)
          assert.equal(
            compared,
            [
              [32, 32],
              [32, 32],
            ],
            name,
          )
        }
      } finally {
        crypto.timingSafeEqual = real
        syncBuiltinESMExports()
      }
    },
  )
})

type Counted = { pg: Pg; statements: string[] }
const counting = (url: string): Counted => {
  const statements: string[] = []
  const pg = makePg({
    url,
    around: ({ name }, run) => {
      statements.push(name)
      return run()
    },
  })
  return { pg, statements }
}

const order = (change: Partial<Parameters<TokenStore['mint']>[0]> = {}) => ({
  account: 'demo',
  name: 'ci',
  scopes: ['invoices:read'] as const,
  preset: null,
  expiresAt: null,
  ...change,
})

spec('the check of a token', (t) => {
  let database: Database
  let counted: Counted
  let store: TokenStore
  let nowMs = 0
  const used: string[] = []
  const start = (): Authentication =>
    makeAuth({ pg: counted.pg, keys, nowMs: () => nowMs, onUse: (id) => void used.push(id) })
  let auth: Authentication
  const check = (token: string, by = auth) => by.authenticate({ authorization: `Bearer ${token}` })
  const mint = async (change: Partial<Parameters<TokenStore['mint']>[0]> = {}) => {
    const minted = await store.mint(order(change))
    if (!minted) throw new Error('no token was made')
    return minted
  }
  const sql = (text: string, values: unknown[] = []) => query(database.url, text, values)

  t.before(async () => {
    database = await makeDatabase()
    counted = counting(database.apiUrl)
    store = makeTokenStore({ pg: counted.pg, keys })
    const columns = 'kind, name, account, uid, generation, observed_generation, view, created_at, updated_at'
    for (const name of ['demo', 'many'])
      await sql(
        `insert into mirror (${columns}) values ('Account', $1, $1, $1, 1, 1, '{"role":"member"}', now(), now())`,
        [name],
      )
  })
  t.before.each(() => {
    nowMs += 1_000_000
    auth = start()
  })
  t.after(async () => {
    await counted.pg.close()
    await database.drop()
  })

  t('costs one statement when cold, and none for ten seconds after', async () => {
    const { secret } = await mint()
    counted.statements.length = 0
    const caller = await check(secret)
    assert.equal([caller.account, caller.scopes, caller.profile], ['demo', ['invoices:read'], { role: 'member' }])
    assert.equal(counted.statements, ['find_tokens'])
    nowMs += REMEMBER_MS - 1
    await check(secret)
    assert.is(counted.statements.length, 1)
    nowMs += 1
    await check(secret)
    assert.is(counted.statements.length, 2)
  })

  t('is one indexed read: the plan has no sequential scan', async () => {
    const text = `explain select t.id from unnest('{a,b}'::text[]) as k(id)
      cross join lateral (select * from tokens where tokens.id = k.id limit 1) t
      left join lateral (select view from mirror where kind = 'Account' and name = t.account limit 1) m on true`
    const plan = await counted.pg.query<{ 'QUERY PLAN': string }>('explain_find', text, [])
    const lines = plan.rows.map((row) => row['QUERY PLAN']).join('\n')
    assert.match(lines, /Index Scan using tokens_pkey/)
    assert.not.match(lines, /Seq Scan/)
  })

  t('shares one read among a hundred callers', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => mint({ account: 'many' })))
    counted.statements.length = 0
    await Promise.all(tokens.flatMap(({ secret }) => Array.from({ length: 5 }, () => check(secret))))
    assert.ok(counted.statements.length <= 3, String(counted.statements.length))
  })

  t('does not ask the database about a typing error or another form', async () => {
    const { secret } = await mint()
    counted.statements.length = 0
    await assert.rejects(check(`${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`), /typing error/)
    await assert.rejects(check('btg_x'), /not of the form/)
    await assert.rejects(check('eyJx.y.z'), /neither a token nor a session/)
    await assert.rejects(auth.authenticate({ authorization: 'Basic YTpi' }), /neither a token nor a session/)
    await assert.rejects(auth.authenticate({}), /Send Authorization/)
    assert.equal(counted.statements, [])
  })

  t('refuses an unknown id and a wrong secret alike, and a token of an account that is not there', async () => {
    const { token } = await mint()
    await assert.rejects(check(newToken().token), /unknown or revoked/)
    await assert.rejects(check(newToken(token.id).token), /unknown or revoked/)
    const { secret } = await mint({ account: 'nobody' })
    await assert.rejects(check(secret), /account of this token does not exist/)
  })

  t('ends with the expiry, also for who remembered it', async () => {
    const { secret, token } = await mint({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    await check(secret)
    await sql(`update tokens set expires_at = now() + interval '2 seconds' where id = $1`, [token.id])
    auth = start()
    await check(secret)
    nowMs += 2_000
    await sql(`update tokens set expires_at = now() where id = $1`, [token.id])
    await assert.rejects(check(secret), /has expired/)
  })

  t('ends with the revocation: at once where the notice comes, after ten seconds where it is lost', async () => {
    const { secret, token } = await mint()
    const heard: string[][] = []
    const told = Promise.withResolvers<void>()
    const listener = await counted.pg.listen('bottega_mirror', (payload) => {
      heard.push(JSON.parse(payload))
      auth.forget(JSON.parse(payload))
      told.resolve()
    })
    const deaf = start()
    await check(secret)
    await check(secret, deaf)
    assert.is(await store.revoke('other', token.id), false)
    assert.is(await store.revoke('demo', token.id), true)
    await told.promise
    await assert.rejects(check(secret), /unknown or revoked/)
    await check(secret, deaf)
    nowMs += REMEMBER_MS
    await assert.rejects(check(secret, deaf), /unknown or revoked/)
    assert.equal(heard, [[`Token/${token.id}`]])
    await listener.close()
  })

  t('is not remembered when the token changed while it was looked up', async () => {
    const { secret, token } = await mint()
    const checking = check(secret)
    auth.forget([`Token/${token.id}`])
    await checking
    counted.statements.length = 0
    await check(secret)
    assert.equal(counted.statements, ['find_tokens'])
  })

  t('forgets an account that changed, and leaves the others', async () => {
    const [one, other] = [await mint(), await mint({ account: 'many' })]
    await check(one.secret)
    await check(other.secret)
    counted.statements.length = 0
    auth.forget(['Invoice/inv-1', 'Account/demo'])
    await check(other.secret)
    assert.is(counted.statements.length, 0)
    await check(one.secret)
    assert.is(counted.statements.length, 1)
  })

  t('after a rotation takes the new secret, and the old one for the grace only', async () => {
    const { secret, token } = await mint()
    const atOnce = await store.rotate('demo', token.id, 0)
    await check(atOnce?.secret ?? '')
    await assert.rejects(check(secret), /unknown or revoked/)
    const graced = await store.rotate('demo', token.id, 3600)
    await check(atOnce?.secret ?? '')
    await check(graced?.secret ?? '')
    assert.ok(Date.parse(graced?.token.previous_until ?? '') > Date.now() + 3_500_000)
    await sql('update tokens set previous_until = now() where id = $1', [token.id])
    auth = start()
    await assert.rejects(check(atOnce?.secret ?? ''), /unknown or revoked/)
    await check(graced?.secret ?? '')
    assert.is(await store.rotate('other', token.id, 0), undefined)
    await store.revoke('demo', token.id)
    assert.is(await store.rotate('demo', token.id, 0), undefined)
  })

  t('is made once for one intent, and rotated once, however often that is sent', async () => {
    const [first, ...again] = await Promise.all([1, 2, 3].map(() => store.mint(order(), 'k')))
    assert.equal(new Set([first, ...again].map((one) => one?.secret)).size, 1)
    await check(first?.secret ?? '')
    const id = first?.token.id ?? ''
    assert.is.not((await store.mint(order(), 'l'))?.token.id, id)
    assert.is.not((await store.mint(order({ account: 'many' }), 'k'))?.token.id, id)
    const turned = [await store.rotate('demo', id, 3600, 'k'), await store.rotate('demo', id, 3600, 'k')]
    assert.equal(new Set(turned.map((one) => one?.secret)).size, 1)
    assert.is(turned[0]?.token.rotated_at, turned[1]?.token.rotated_at)
    await check(turned[0]?.secret ?? '')
    await check(first?.secret ?? '') // within the grace: the repeat did not end it
    assert.is.not((await store.rotate('demo', id, 0, 'm'))?.secret, turned[0]?.secret)
    assert.is(await store.rotate('other', id, 0, 'm'), undefined)
  })

  t('leaves the legacy form working: what the setup mints has full access', async () => {
    const token = await mintToken(database.url, { account: 'demo', name: 'setup', key: key.toString('base64') })
    const opened = await openKeys({ pg: counted.pg, secretKeys: [key], makes: false })
    opened.stop()
    const byRoot = makeAuth({ pg: counted.pg, keys: opened.keys, nowMs: () => nowMs })
    for (const one of [token, token.slice(0, -6)]) {
      const caller = await byRoot.authenticate({ authorization: `Bearer ${one}` })
      assert.is(caller.scopes, null)
    }
  })

  t('stops at the most tokens that an account may have, also when they come together', async () => {
    await sql(`delete from tokens where account = 'many'`)
    await sql(
      `insert into tokens (id, account, name, secret_hash)
      select 'many-' || n, 'many', 'n', sha256('') from generate_series(1, $1::int) n`,
      [TOKENS_MAX - 5],
    )
    const made = await Promise.all(Array.from({ length: 10 }, () => store.mint(order({ account: 'many' }))))
    assert.is(made.filter((one) => one !== null).length, 5)
    await store.revoke('many', made.find((one) => one !== null)?.token.id ?? '')
    assert.ok(await store.mint(order({ account: 'many' })))
  })

  t('notes each use, and writes it once a minute', async () => {
    const { token } = await mint()
    counted.statements.length = 0
    const [one, another] = [1, 2].map(() =>
      makeTokenUse({ pg: counted.pg, nowMs: () => nowMs, onError: () => {}, flushAfterMs: 10 }),
    )
    for (let turn = 0; turn < 100; turn++) one?.note(token.id)
    await sleep(100)
    await one?.close()
    assert.equal(counted.statements, ['note_token_use'])
    const first = (await store.get('demo', token.id))?.last_used_at
    assert.ok(first)
    another?.note(token.id)
    await another?.close()
    assert.is((await store.get('demo', token.id))?.last_used_at, first)
  })

  t('never fails because its use could not be written', async () => {
    const errors: unknown[] = []
    const broken = { query: () => Promise.reject(new Error('away')) } as unknown as Pg
    const use = makeTokenUse({ pg: broken, nowMs: () => nowMs, onError: (error) => void errors.push(error) })
    use.note('a')
    await use.close()
    assert.is(errors.length, 1)
  })

  t('what could not be written is written at the end', async () => {
    const { token } = await mint()
    let isAway = true
    const query: Pg['query'] = (...asked) => (isAway ? Promise.reject(new Error('away')) : counted.pg.query(...asked))
    const use = makeTokenUse({ pg: { query } as Pg, nowMs: () => nowMs, onError: () => {} })
    use.note(token.id)
    await use.flush()
    assert.is((await store.get('demo', token.id))?.last_used_at, null)
    isAway = false
    await use.close()
    assert.ok((await store.get('demo', token.id))?.last_used_at)
  })
})
