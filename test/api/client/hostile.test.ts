/** Answers of a server that was taken over: nothing that it says becomes an option, a line, a variable or a link. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXIT, RefusedByApi } from '../../../api/client/cli/net/outcome.ts'
import { believedBox, isPublicKey } from '../../../api/client/cli/ssh/believed.ts'
import { editorLinks } from '../../../api/client/cli/ssh/links.ts'
import { configBlock, loginChoice, sshArguments } from '../../../api/client/cli/ssh/options.ts'
import { type Cli, makeCli } from '../../support/client/cli.ts'
import { answerJson, byPlace, type StandIn, startStandIn } from '../../support/client/standin.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const ID = `dev-${'0123456789abcdef'.repeat(2)}`
const PRINT = `SHA256:${'a'.repeat(42)}/`
const KEY = `ssh-ed25519 ${'A'.repeat(68)}`
const GOOD = { id: ID, name: 'october', state: 'running', publicIp: '203.0.113.7', hostKeys: [PRINT, KEY] }

/** What would become something else than a word, wherever it is put. */
const TRICKS: readonly [string, string][] = [
  ['an option', '-oProxyCommand=touch /tmp/owned'],
  ['an option with two dashes', '--help'],
  ['a second line', 'october\nProxyCommand touch /tmp/owned'],
  ['a line feed at its end', 'october\n'],
  ['a carriage return', 'october\rProxyCommand touch'],
  ['a space', 'october ProxyCommand=touch'],
  ['a tab', 'october\tx'],
  ['a no-break space', 'october\u00a0x'],
  ['a line separator', 'october\u2028ProxyCommand touch'],
  ['a zero', 'october\0x'],
  ['a pattern of all hosts', '*'],
  ['a host that is denied', '!october'],
  ['another user', 'root@october'],
  ['a command', '$(touch /tmp/owned)'],
  ['a command in backticks', '`touch`'],
  ['a variable', `$${'{HOME}'}`],
  ['a token of ssh_config', '%h'],
  ['a quote', 'october"'],
  ['a comment', 'october#x'],
  ['a folder', '../../.ssh/authorized_keys'],
  ['a part of a link', 'october&user=root'],
  ['a mark that reorders', 'octo\u202eber'],
  ['nothing', ''],
  ['a letter that looks like another', 'оctober'],
  ['more than a name', 'o'.repeat(64)],
]

const refusalOf = (answer: Record<string, unknown>): string => {
  try {
    believedBox(answer)
    return 'believed'
  } catch (error) {
    assert.ok(error instanceof RefusedByApi)
    return error.refusal.code
  }
}

spec('what a server says of a dev instance', (t) => {
  for (const [what, text] of TRICKS) {
    t(`is not believed where a name, id, state, address or key is ${what}`, () => {
      for (const member of ['name', 'id', 'state', 'publicIp'] as const) {
        // an id may have 253 characters, and a state is no name
        if (member === 'id' && text.length === 64) continue
        assert.is(refusalOf({ ...GOOD, [member]: text }), 'UNSAFE_ANSWER', member)
      }
      for (const hostKeys of [
        [text],
        [PRINT, text],
        [`${KEY} ${text}`],
        [`${text} ${KEY}`],
        [`${PRINT}${text || ' '}`],
      ]) {
        assert.is(refusalOf({ ...GOOD, hostKeys }), 'UNSAFE_ANSWER', JSON.stringify(hostKeys))
      }
    })
  }

  t('is not believed where it is no text at all', () => {
    for (const value of [undefined, 7, {}, ['october'], { toString: 'october' }, true]) {
      assert.is(refusalOf({ ...GOOD, name: value }), 'UNSAFE_ANSWER')
      assert.is(refusalOf({ ...GOOD, hostKeys: [value] }), 'UNSAFE_ANSWER')
      if (value !== undefined) assert.is(refusalOf({ ...GOOD, publicIp: value }), 'UNSAFE_ANSWER')
    }
    for (const hostKeys of ['SHA256:', { length: 1 }, Array(21).fill(PRINT)]) {
      assert.is(refusalOf({ ...GOOD, hostKeys }), 'UNSAFE_ANSWER')
    }
    assert.is(refusalOf(undefined as unknown as Record<string, unknown>), 'UNSAFE_ANSWER')
  })

  t('is an address of four numbers, and neither a name nor another way to write one', () => {
    for (const publicIp of [
      'example.org',
      '1.2.3',
      '0x7f000001',
      '2130706433',
      '::1',
      '1.2.3.4:22',
      '1.2.3.256',
      '[::1]',
    ]) {
      assert.is(refusalOf({ ...GOOD, publicIp }), 'UNSAFE_ANSWER', publicIp)
    }
    assert.is(believedBox({ ...GOOD, publicIp: null }).publicIp, null)
  })

  t('is a key of a kind that hosts have, and no line of options', () => {
    assert.ok(isPublicKey(KEY))
    for (const line of [
      `@cert-authority ${KEY}`,
      `ssh-dss ${'A'.repeat(68)}`,
      'ssh-ed25519 ',
      'ssh-ed25519 AAAA',
      `ssh-rsa ${'A'.repeat(5_000)}`,
      `ssh-ed25519  ${'A'.repeat(68)}`,
      `ssh-ed25519-cert-v01@openssh.com ${'A'.repeat(68)}`,
      `${KEY}\n* ${KEY}`,
    ]) {
      assert.not.ok(isPublicKey(line), line)
    }
  })

  t('is believed where each word is what it may be', () => {
    const { host, fingerprints, keys } = believedBox(GOOD)
    assert.equal([host, fingerprints, keys], ['bottega-october', [PRINT], [KEY]])
    // editors make the host of a link lower case, and would find none
    assert.is(believedBox({ ...GOOD, name: 'October' }).host, ID)
  })
})

spec('what ssh is told', (t) => {
  const target = {
    box: believedBox(GOOD),
    publicIp: '203.0.113.7',
    knownHosts: '/s/x.known_hosts',
    login: { user: 'dev', port: 22 },
  }

  t('ends its options before the address, and says all of whom to believe', () => {
    const args = sshArguments(target, ['-oProxyCommand=x', 'ls'])
    assert.equal(args.slice(-6), ['-l', 'dev', '--', '203.0.113.7', '-oProxyCommand=x', 'ls'])
    for (const word of ['StrictHostKeyChecking=yes', 'GlobalKnownHostsFile=/dev/null', `HostKeyAlias=${ID}`]) {
      assert.is(args[args.indexOf(word) - 1], '-o', word)
    }
    assert.ok(args.includes('NoHostAuthenticationForLocalhost=no'))
    assert.not.ok(args.some((word) => /accept-new|StrictHostKeyChecking=(no|ask)/.test(word)))
  })

  t('has in ssh_config a keyword and a value a line, and the identity in quotes', () => {
    const identityFile = '/home/me/my keys/id'
    const lines = configBlock({ ...target, login: { ...target.login, identityFile } }).split('\n')
    assert.is(lines[0], `Host bottega-october ${ID}`)
    assert.ok(lines.includes('  IdentityFile "/home/me/my keys/id"'))
    assert.ok(
      lines.slice(1).every((line) => /^ {2}[A-Za-z]+ (\S+|"[^"]+")$/.test(line)),
      lines.join('\n'),
    )
  })

  t('has no user, port or identity that is something else', () => {
    for (const [flags, said] of [
      [{ user: '-oProxyCommand=x' }, /--user/],
      [{ user: 'dev\nProxyCommand x' }, /--user/],
      [{ ssh_port: '22 -oX' }, /--ssh-port/],
      [{ ssh_port: '0' }, /--ssh-port/],
      [{ ssh_port: '65536' }, /--ssh-port/],
      [{ identity: 'a"\nProxyCommand x' }, /--identity/],
    ] as const) {
      assert.throws(() => loginChoice(flags), said)
    }
  })

  t('and an editor, is a link whose parts stay apart', () => {
    const { vscode, jetbrains } = editorLinks(target.box, target.login)
    assert.is(vscode, 'vscode://vscode-remote/ssh-remote+bottega-october/home/dev/repo')
    const asked = new URLSearchParams(new URL(jetbrains).hash.slice(1))
    assert.equal(
      [...asked],
      [
        ['type', 'ssh'],
        ['deploy', 'false'],
        ['host', 'bottega-october'],
        ['port', '22'],
        ['user', 'dev'],
        ['projectPath', '/home/dev/repo'],
      ],
    )
  })
})

spec('the client, asked for a dev instance of a server that was taken over', (t) => {
  let [api, folder] = [null as unknown as StandIn, '']
  let devbox: Record<string, unknown> = {}
  let cli: Cli

  t.before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-hostile-'))
    // whoever is called leaves a mark
    for (const name of ['ssh', 'ssh-keyscan', 'touch']) {
      writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} >> '${folder}/called'\n`, { mode: 0o755 })
    }
    mkdirSync(join(folder, 'state'))
    api = await startStandIn(
      byPlace([
        ['GET /api/devboxes?', (_, response) => answerJson(response, 200, { devboxes: [devbox] })],
        ['POST /api/devboxes/', (_, response) => answerJson(response, 200, { devbox, env: {} })],
        ['/api/devboxes/', (_, response) => answerJson(response, 200, { devbox, env: {} })],
      ]),
    )
    const env = { BOTTEGA_URL: api.url, BOTTEGA_TOKEN: 'btg_0123456789abcdef', XDG_STATE_HOME: join(folder, 'state') }
    cli = makeCli({ env: { ...env, PATH: `${folder}:${process.env.PATH}` } })
  })
  t.after(async () => {
    await api.end()
    rmSync(folder, { recursive: true, force: true })
  })

  const named = ['--devbox', ID]
  const COMMANDS = [
    ['ssh', ...named, '--', 'true'],
    ['config', ...named],
    ['known-hosts', ...named],
    ['ports', ...named, '3000'],
    ['ports', ...named, '3000', '--run'],
    ['stop', ...named],
    ['env', 'send', ...named],
  ]
  const TEXTS = ['an option', 'a second line', 'a space'].map((what) => new Map(TRICKS).get(what))
  const isRefused = async (words: readonly string[]): Promise<void> => {
    const { code, out, err } = await cli(['devbox', ...words])
    assert.equal([code, out], [EXIT.refused, ''], `${words.join(' ')}: ${err}`)
    assert.match(err, /UNSAFE_ANSWER[\s\S]*→ Tell whoever/)
    assert.not.match(err, /\p{Cc}\[|^ProxyCommand/mu)
  }
  for (const member of ['name', 'id', 'publicIp', 'hostKeys']) {
    t(`runs and writes nothing, and ends with 5, where the ${member} is a trick`, async () => {
      for (const text of TEXTS) {
        devbox = { ...GOOD, [member]: member === 'hostKeys' ? [text] : text }
        for (const words of COMMANDS) await isRefused(words)
      }
      assert.equal(readdirSync(folder).sort(), ['ssh', 'ssh-keyscan', 'state', 'touch'], 'nobody left a mark')
      assert.equal(readdirSync(join(folder, 'state')), [])
    })
  }

  t('moves no cursor by an id that it looked up', async () => {
    devbox = { ...GOOD, id: 'x\u001b[2J\u009b1m', version: 1 }
    for (const words of [['start'], ['resize', '--size-class', 'M']]) {
      const { code, out, err } = await cli(['devbox', ...words, '--devbox', 'october'])
      assert.is(code, 0, err)
      assert.not.match(out + err, /[\p{Cc}--[\n\t]]/v)
    }
  })

  t('shows what it says with its tricks visible, and without a link', async () => {
    devbox = { ...GOOD, name: 'october\u001b[2J\nssh: owned', policy: null, price: null }
    const { code, out, err } = await cli(['devbox', 'show', ID])
    assert.is(code, 0, err)
    assert.not.match(out, /\p{Cc}\[|vscode:|^ssh:/mu)
    const { json } = await cli(['devbox', 'show', ID, '--json'])
    assert.is(json.links, null)
  })
})
