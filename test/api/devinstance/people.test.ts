import { createDecipheriv, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT } from '../../../api/client/cli/net/outcome.ts'
import { linesDigest } from '../../../crds/devinstance/bootstrap/authorized.ts'
import { DERIVED_BYTES, SEAL_INFO, sealedFor } from '../../../crds/devinstance/bootstrap/unseal.ts'
import { SSH_KEYS_MAX } from '../../../crds/text/sshkeys.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { makeKey, publicOf } from '../../../hack/stage/hoststage.ts'
import { publicKey } from '../../support/builders/devinstance.ts'
import { makeCli } from '../../support/client/cli.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { makeProvisioner, type Provisioner, setCap } from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'

/** What people need of a dev instance, over REST: to log in, and to have their environment there (hack/decisions/092). */

const KEYS = '/api/account/ssh-keys'
const NONE = linesDigest('')

spec('people and their dev instances', (t) => {
  let platform: Platform
  let box: Provisioner
  const tokens = { owner: '', mate: '', admin: '', stranger: '' }
  const ask = (token: string | null, method: string, path: string, body?: unknown) =>
    call(platform.baseUrl, token, method, path, body)
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
  const codeOf = ({ status, json }: Reply) => `${status} ${json?.code ?? ''}`.trim()
  const add = async (token: string, line = publicKey()): Promise<Json> => {
    const { status, json, text } = await ask(token, 'POST', KEYS, { name: 'laptop', public_key: line })
    assert.is(status, 201, text)
    return json.ssh_key
  }
  const reportToken = async (id: string): Promise<string> => (await box.on(id, 'POST', 'token')).json.token
  const report = async (id: string, token: string, more: object = {}): Promise<Json> => {
    const { status, json, text } = await ask(token, 'POST', `/api/devboxes/${id}/report`, {
      at: new Date().toISOString(),
      git: { dirty: 0, untracked: 0, unpushed: 0 },
      ...more,
    })
    assert.is(status, 200, text)
    return json
  }
  const linesOf = ({ authorizedKeys }: Json): string[] =>
    Buffer.from(authorizedKeys.file, 'base64').toString('utf8').split('\n').slice(0, -1)
  const historyOf = async (id: string, kind: string): Promise<Json[]> =>
    (await box.on(id, 'GET', 'events')).json.events.filter((entry: Json) => entry.kind === kind)

  t.before(
    async () => {
      platform = await startPlatform()
      const capabilities = ['devbox.manage']
      tokens.owner = await addAccount(platform, 'boxer', { capabilities, teams: ['studio'] })
      tokens.mate = await addAccount(platform, 'mate', { teams: ['studio'] })
      tokens.admin = await addAccount(platform, 'root', { capabilities, role: 'admin' })
      tokens.stranger = await addAccount(platform, 'stranger', { teams: ['others'] })
      await setCap(platform, { account: 'boxer', token: tokens.owner }, 5_000)
      box = makeProvisioner(platform, tokens.owner)
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => platform.end())

  t('a public key is added, shown, refused twice, and removed; each of it is in the audit', async () => {
    const line = publicKey()
    const key = await add(tokens.stranger, `${line} someone@laptop`)
    assert.equal([key.public_key, key.name], [line, 'laptop'])
    assert.match(key.fingerprint, /^SHA256:[A-Za-z0-9+/]{43}$/)
    const again = await ask(tokens.stranger, 'POST', KEYS, { name: 'other', public_key: line })
    assert.equal([codeOf(again), again.json.errors[0].pointer], ['409 SSH_KEY_KNOWN', '/public_key'])
    assert.match(again.json.detail, key.id)
    const bad = await ask(tokens.stranger, 'POST', KEYS, { name: 'other', public_key: `command="id" ${line}` })
    assert.equal([codeOf(bad), bad.json.errors[0].pointer], ['400 BAD_SSH_KEY', '/public_key'])
    const { json } = await ask(tokens.stranger, 'GET', KEYS)
    assert.equal([json.ssh_keys, json.total, json.limit], [[key], 1, SSH_KEYS_MAX])
    // another account may have the same key, and does not see this one's
    const other = await add(tokens.mate, line)
    assert.is.not(other.id, key.id)
    assert.is(codeOf(await ask(tokens.mate, 'DELETE', `${KEYS}/${key.id}`)), '404 NOT_FOUND')
    for (const [token, id] of [
      [tokens.stranger, key.id],
      [tokens.mate, other.id],
    ] as const) {
      assert.is((await ask(token, 'DELETE', `${KEYS}/${id}`)).status, 204)
      assert.is(codeOf(await ask(token, 'DELETE', `${KEYS}/${id}`)), '404 NOT_FOUND')
    }
    const { entries } = (await ask(tokens.stranger, 'GET', '/api/audit')).json
    const told = entries
      .map(({ what }: Json) => what)
      .filter(({ resource }: Json) => resource === `${KEYS}/${key.id}`)
      .map(({ verb }: Json) => verb)
    assert.equal(told.sort(), ['DELETE /api/account/ssh-keys/:id', 'DELETE /api/account/ssh-keys/:id', `POST ${KEYS}`])
  })

  t(
    'the client adds them from the files of ssh-keygen, lists them, and removes them by name; a private one it keeps',
    async () => {
      const token = await addAccount(platform, 'typist', {})
      const cli = makeCli({ env: { BOTTEGA_URL: platform.baseUrl, BOTTEGA_TOKEN: token } })
      const file = join(mkdtempSync(join(process.env.BOTTEGA_TEST_FOLDER ?? '/tmp', 'keys-')), 'id_ed25519')
      makeKey(file)
      const added = await cli(['keys', 'add', `${file}.pub`, '--json'])
      assert.equal([added.code, added.json.ssh_key.name], [EXIT.ok, 'id_ed25519'], added.err)
      assert.is(added.json.ssh_key.public_key, publicOf(file))
      const again = await cli(['keys', 'add', `${file}.pub`, '--json'])
      assert.equal([again.code, again.json.problem.code], [EXIT.failed, 'SSH_KEY_KNOWN'])
      const twins = [publicKey(), publicKey()]
      for (const line of twins) {
        const { code, err } = await cli(['keys', 'add', '-'], { input: `${line} someone@laptop\n` })
        assert.is(code, EXIT.ok, err)
        assert.match(err, /from its next report/)
      }
      assert.is((await cli(['keys', 'add', '-', '--name', 'desk'], { input: publicKey() })).code, EXIT.ok)
      const listed = await cli(['keys', 'list'])
      assert.match(
        listed.out,
        /^NAME +FINGERPRINT +CHANGED_AT +ID\ndesk +SHA256:\S{43} .*\n(someone@laptop .*\n){2}id_ed25519 /,
      )

      const requests = async () => (await ask(token, 'GET', '/api/audit')).json.total
      const before = await requests()
      const refused: [string[], RegExp][] = [
        [['add', file], /it is a private key: keep it/],
        [['add', `${file}.bup`], /cannot be read/],
        [['add'], /Which key\?/],
        [['add', `${file}.pub`, 'laptop'], /takes no "laptop"/],
        [['remove', 'desk'], /say --yes/],
        [
          ['remove', 'someone@laptop', '--yes'],
          /More than one is called someone@laptop: say its id, key-\w+ or key-\w+/,
        ],
      ]
      for (const [words, said] of refused) {
        const { code, err } = await cli(['keys', ...words])
        assert.is(code, EXIT.usage, err)
        assert.match(err, said)
      }
      assert.is((await cli(['keys', 'add', '-'], { input: publicKey() })).code, EXIT.usage, 'nothing to call it by')
      const none = await cli(['keys', 'remove', 'nobody', '--yes', '--json'])
      assert.equal([none.code, none.json.problem.code], [EXIT.failed, 'NOT_FOUND'])
      assert.is(await requests(), before, 'none of it was asked')

      for (const word of ['desk', added.json.ssh_key.id]) {
        const { code, err } = await cli(['keys', 'remove', word, '--yes'])
        assert.is(code, EXIT.ok, err)
      }
      const { json } = await cli(['keys', 'list', '--json'])
      assert.equal(json.ssh_keys.map((key: Json) => key.public_key).toSorted(), twins.toSorted())
    },
  )

  t(`an account has ${SSH_KEYS_MAX} of them at most, however many come at once`, async () => {
    const each = Array.from({ length: SSH_KEYS_MAX + 5 }, () =>
      ask(tokens.stranger, 'POST', KEYS, { name: 'one', public_key: publicKey() }),
    )
    const codes = (await Promise.all(each)).map(codeOf)
    assert.equal(
      [codes.filter((code) => code === '201').length, codes.filter((code) => code === '409 SSH_KEY_LIMIT').length],
      [SSH_KEYS_MAX, 5],
    )
  })

  t(
    'the keys of the owner get into the box, those of members of its teams where the policy says so, and go again',
    async () => {
      const { id } = await box.toRunning()
      const token = await reportToken(id)
      const mine = await add(tokens.owner)
      const hers = await add(tokens.mate)
      assert.is((await report(id, token)).authorizedKeys, undefined, 'a box that does not speak of keys')
      const first = await report(id, token, { holds: { keysSha256: NONE } })
      assert.equal(linesOf(first), [`${mine.public_key} bottega:boxer`])
      assert.is(linesDigest(`${mine.public_key} bottega:boxer\n`), first.authorizedKeys.sha256)

      assert.is((await box.on(id, 'POST', 'teams', { teamId: 'studio' })).status, 200)
      const holds = { keysSha256: first.authorizedKeys.sha256 }
      assert.equal((await report(id, token, { holds })).authorizedKeys, { sha256: holds.keysSha256 }, 'only to look at')
      const [installed] = await historyOf(id, 'keys.installed')
      assert.equal(
        [installed?.data, installed?.by],
        [{ sha256: holds.keysSha256, keys: [{ account: 'boxer', fingerprint: mine.fingerprint }] }, 'boxer'],
      )

      const opened = await box.on(id, 'PATCH', '', { policy: { teamLogin: true } })
      assert.equal([opened.status, opened.json.devbox.policy.teamLogin], [200, true])
      const both = await report(id, token, { holds })
      assert.equal(linesOf(both), [`${mine.public_key} bottega:boxer`, `${hers.public_key} bottega:mate`])
      const { authorizedKeys: shown } = await box.detail(id)
      assert.equal(
        [shown.sha256, shown.onMachine, shown.keys.map(({ account, name }: Json) => [account, name])],
        [
          both.authorizedKeys.sha256,
          false,
          [
            ['boxer', 'laptop'],
            ['mate', 'laptop'],
          ],
        ],
      )
      await report(id, token, { holds: { keysSha256: both.authorizedKeys.sha256 } })
      assert.is((await box.detail(id)).authorizedKeys.onMachine, true)

      assert.is((await ask(tokens.mate, 'DELETE', `${KEYS}/${hers.id}`)).status, 204)
      const without = await report(id, token, { holds: { keysSha256: both.authorizedKeys.sha256 } })
      assert.equal(linesOf(without), [`${mine.public_key} bottega:boxer`])

      // who is a member is what the Account's resource says
      const kept = await add(tokens.mate)
      const told = async () => linesOf(await report(id, token, { holds: { keysSha256: NONE } }))
      assert.equal(await told(), [`${mine.public_key} bottega:boxer`, `${kept.public_key} bottega:mate`])
      await platform.kubectl(['patch', 'acct', 'mate', '--type=merge', '-p', '{"spec": {"teams": []}}'])
      await eventually('the team without her', async () => (await told()).length === 1)
      await platform.kubectl(['patch', 'acct', 'mate', '--type=merge', '-p', '{"spec": {"teams": ["studio"]}}'])
      await eventually('the team with her', async () => (await told()).length === 2)
      assert.is((await box.on(id, 'DELETE', 'teams/studio')).status, 200)
      assert.equal(await told(), [`${mine.public_key} bottega:boxer`])
    },
    { timeoutMs: 120_000 },
  )

  t(
    'the keys of an account that is deleted open nothing any more, and are no longer there',
    async () => {
      const leaver = await addAccount(platform, 'leaver', { teams: ['studio'] })
      await add(leaver)
      const { id } = await box.toRunning()
      const token = await reportToken(id)
      await box.on(id, 'POST', 'teams', { teamId: 'studio' })
      await box.on(id, 'PATCH', '', { policy: { teamLogin: true } })
      const accounts = async () =>
        linesOf(await report(id, token, { holds: { keysSha256: '0'.repeat(64) } })).map((line) =>
          line.split(':').at(-1),
        )
      assert.ok((await accounts()).includes('leaver'))
      await platform.kubectl(['delete', 'acct', 'leaver'])
      await eventually('the end of the account', async () => !(await accounts()).includes('leaver'))
      await eventually(
        'the end of its keys',
        async () => (await sql("select 1 from account_ssh_keys where account = 'leaver'")).length === 0,
      )
    },
    { timeoutMs: 120_000 },
  )

  /** A machine at one start: the key that it asks with, and what it reads of what it is answered. */
  const aStart = (id: string) => {
    const { privateKey, publicKey: own } = generateKeyPairSync('x25519')
    const to = String(own.export({ format: 'jwk' }).x)
    const open = ({ version, sealed }: Json): Json => {
      const data = Buffer.from(sealed.data, 'base64')
      const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: sealed.key }, format: 'jwk' })
      const shared = diffieHellman({ privateKey, publicKey })
      const derived = Buffer.from(hkdfSync('sha256', shared, sealed.key + to, SEAL_INFO, DERIVED_BYTES))
      const opener = createDecipheriv('aes-256-gcm', derived.subarray(0, 32), derived.subarray(32))
      opener.setAAD(Buffer.from(sealedFor(id, version)))
      opener.setAuthTag(data.subarray(-16))
      return JSON.parse(Buffer.concat([opener.update(data.subarray(0, -16)), opener.final()]).toString('utf8'))
    }
    return { sealTo: to, open }
  }
  const CANARY = 'canary-of-the-environment-that-is-brought'

  t(
    'the environment is brought once to each start, sealed to its key; a replay, another key and another token get nothing',
    async () => {
      const { id } = await box.toRunning()
      const token = await reportToken(id)
      const first = aStart(id)
      assert.is((await report(id, token, { sealTo: first.sealTo })).environment, null, 'there is none')
      assert.is((await report(id, token)).environment, undefined, 'a box that does not speak of it')
      await box.on(id, 'PUT', 'env', { env: { GIT_TOKEN: CANARY, EMPTY: '' } })

      const { environment } = await report(id, token, { sealTo: first.sealTo })
      assert.equal([environment.state, first.open(environment)], ['sealed', { EMPTY: '', GIT_TOKEN: CANARY }])
      assert.throws(() => aStart(id).open(environment), /authenticate/)
      const { version } = environment
      // an answer that was lost on its way: nobody else can open it
      const again = await report(id, token, { sealTo: first.sealTo })
      assert.equal([first.open(again.environment).GIT_TOKEN, again.environment.version], [CANARY, version])
      assert.is.not(again.environment.sealed.data, environment.sealed.data)
      const thief = aStart(id)
      assert.equal((await report(id, token, { sealTo: thief.sealTo })).environment, { version, state: 'fetched' })
      await report(id, token, { sealTo: thief.sealTo })

      const holds = { envVersion: version }
      assert.equal((await report(id, token, { holds, sealTo: first.sealTo })).environment, { version, state: 'held' })
      for (const { sealTo } of [first, thief]) {
        assert.equal((await report(id, token, { sealTo })).environment, { version, state: 'fetched' }, 'a replay')
      }
      const { id: other } = await box.toRunning()
      const elsewhere = await ask(await reportToken(other), 'POST', `/api/devboxes/${id}/report`, {
        at: new Date().toISOString(),
        sealTo: thief.sealTo,
      })
      assert.is(codeOf(elsewhere), '403 FORBIDDEN')
      assert.is((await report(other, await reportToken(other), { sealTo: thief.sealTo })).environment, null)

      // names only, in the history and in the audit of the owner; and one refusal of another key
      const [fetched, ...more] = await historyOf(id, 'env.fetched')
      assert.equal([more, fetched?.data.keys, fetched?.data.version], [[], ['EMPTY', 'GIT_TOKEN'], version])
      assert.is((await historyOf(id, 'env.refused')).length, 1)
      const { entries } = (await ask(tokens.owner, 'GET', '/api/audit')).json
      const told = entries.filter(({ what }: Json) => what.verb === 'environment brought to its dev instance')
      assert.equal(
        told.map(({ what, who }: Json) => [what.fields, what.resource, who.kind]),
        [[['env.EMPTY', 'env.GIT_TOKEN'], `/api/devboxes/${id}/env`, 'report']],
      )
      for (const reply of [
        await ask(tokens.admin, 'GET', `/api/devboxes/${id}`),
        await ask(tokens.owner, 'GET', `/api/devboxes/${id}/events`),
        await ask(tokens.owner, 'GET', '/api/audit'),
      ]) {
        assert.not.match(reply.text, CANARY)
      }
      assert.is(codeOf(await ask(tokens.admin, 'POST', `/api/devboxes/${id}/env/reveal`)), '403 FORBIDDEN')
    },
    { timeoutMs: 120_000 },
  )

  t(
    'another environment is brought anew, and the same one after a stop that was told, to whatever key the machine has then',
    async () => {
      const { id } = await box.toRunning()
      const token = await reportToken(id)
      const first = aStart(id)
      await box.on(id, 'PUT', 'env', { env: { V: 'canary-first-of-two-environments' } })
      const one = (await report(id, token, { sealTo: first.sealTo })).environment
      await report(id, token, { holds: { envVersion: one.version }, sealTo: first.sealTo })
      await box.on(id, 'PUT', 'env', { env: { V: 'canary-second-of-two-environments' } })
      const two = (await report(id, token, { holds: { envVersion: one.version }, sealTo: first.sealTo })).environment
      assert.equal(
        [two.state, first.open(two), two.version === one.version],
        ['sealed', { V: 'canary-second-of-two-environments' }, false],
      )
      await report(id, token, { holds: { envVersion: two.version }, sealTo: first.sealTo })

      const rebooted = aStart(id)
      assert.is((await report(id, token, { sealTo: rebooted.sealTo })).environment.state, 'fetched', 'no stop was told')
      const now = async () => (await box.detail(id)).version
      assert.is((await box.on(id, 'POST', 'stopped', { version: await now() })).status, 200)
      assert.is(
        (await report(id, token, { sealTo: rebooted.sealTo })).environment,
        null,
        'it is down, as far as is known',
      )
      assert.is((await box.on(id, 'POST', 'started', { version: await now() })).status, 200)
      const three = (await report(id, token, { sealTo: rebooted.sealTo })).environment
      assert.equal([three.state, rebooted.open(three)], ['sealed', { V: 'canary-second-of-two-environments' }])
      // a point of small order, with which everybody would share the secret
      const small = await report(id, token, { sealTo: Buffer.alloc(32).toString('base64url') })
      assert.is(small.environment.state, 'ready')
    },
    { timeoutMs: 120_000 },
  )

  t('work that was not pushed keeps a machine on until its policy says otherwise, by REST or by kubectl', async () => {
    const { id } = await box.toRunning()
    const token = await reportToken(id)
    const git = { dirty: 2, untracked: 0, unpushed: 1 }
    const told = async () => (await report(id, token, { git })).policy.stopWithUnpushedWork
    assert.is(await told(), undefined)
    const changed = await box.on(id, 'PATCH', '', { policy: { stopWithUnpushedWork: true } })
    assert.equal(
      [changed.status, changed.json.devbox.policy],
      [200, { idleMinutes: 30, autoscale: 'ask', stopWithUnpushedWork: true }],
    )
    assert.is(await told(), true)
    const [entry] = await historyOf(id, 'policy.changed')
    assert.match(JSON.stringify(entry?.data), 'stopWithUnpushedWork')
    await platform.kubectl([
      'patch',
      'dbx',
      id,
      '--type=merge',
      '-p',
      '{"spec":{"policy":{"stopWithUnpushedWork":false}}}',
    ])
    await eventually('the policy', async () => (await told()) === false)
    const stopping = await report(id, token, { git, stopping: { reason: 'idle for 31 minutes' } })
    assert.equal(Object.keys(stopping), ['policy'], 'what stops takes nothing along')
    await eventually('the entry', async () => (await historyOf(id, 'stopping')).length === 1)
    const wrong = await box.on(id, 'PATCH', '', { policy: { stopWithUnpushedWork: 'yes' } })
    assert.equal([codeOf(wrong), wrong.json.errors[0].pointer], ['400 INVALID_FIELD', '/policy/stopWithUnpushedWork'])
  })
})
