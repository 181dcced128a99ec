/** Where the egress guard goes and where it never does (rules/platform.md#egress). */
import { connect } from 'node:net'
import { type Egress, makeEgress } from '../../../controllers/net/egress.ts'
import { addressesIn, makeResolve } from '../../../controllers/net/resolve.ts'
import {
  always,
  makeTestKeys,
  OK,
  outcomeOf,
  posting,
  type Receiver,
  resolveBy,
  setTrap,
  startReceiver,
  type Trap,
  watchAttempts,
} from '../../support/doubles/egress.ts'
import { type NamesServer, startNamesServer } from '../../support/doubles/namesserver.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** What the URL's host is, and how it is written; the port of the trap is put after it. */
const LOOPBACK = [
  ['dotted', '127.0.0.1'],
  ['decimal', '2130706433'],
  ['hex', '0x7f000001'],
  ['upper hex', '0X7F000001'],
  ['octal', '017700000001'],
  ['octal parts', '0177.0.0.01'],
  ['hex parts', '0x7f.0x0.0x0.0x1'],
  ['mixed parts', '0x7f.0.0.01'],
  ['two parts', '127.1'],
  ['three parts', '127.0.1'],
  ['another of the net', '127.1.2.3'],
  ['the last of the net', '127.255.255.254'],
  ['with a trailing dot', '127.0.0.1.'],
  ['decimal with a trailing dot', '2130706433.'],
  ['full-width digits', '１２７.０.０.１'],
  ['full-width and an ideographic full stop', '１２７。０。０。１'],
  ['circled digits', '①②⑦.⓪.⓪.①'],
  ['percent-encoded digits', '%31%32%37.0.0.1'],
  ['percent-encoded dots', '127%2e0%2e0%2e1'],
  ['IPv6', '[::1]'],
  ['IPv6 in full', '[0000:0000:0000:0000:0000:0000:0000:0001]'],
  ['IPv6 with groups of zero', '[0:0:0:0:0:0:0:1]'],
  ['IPv6 ending in IPv4', '[::0.0.0.1]'],
  ['v4-mapped', '[::ffff:127.0.0.1]'],
  ['v4-mapped in hex', '[::ffff:7f00:1]'],
  ['v4-mapped in upper hex', '[::FFFF:7F00:0001]'],
  ['v4-mapped in full', '[0:0:0:0:0:ffff:127.0.0.1]'],
  ['v4-compatible', '[::127.0.0.1]'],
  ['any address', '0.0.0.0'],
  ['any address in short', '0'],
  ['any address in hex', '0x0'],
  ['any IPv6 address', '[::]'],
  ['v4-mapped any address', '[::ffff:0.0.0.0]'],
  ['localhost', 'localhost'],
  ['LOCALHOST', 'LOCALHOST'],
  ['localhost with a trailing dot', 'localhost.'],
  ['a name below localhost', 'hooks.localhost'],
  ['full-width localhost', 'ｌｏｃａｌｈｏｓｔ'],
] as const

const PRIVATE = [
  ['this network', '0.1.2.3'],
  ['private 10/8', '10.0.0.1'],
  ['private 10/8 in decimal', '167772161'],
  ['private 172.16/12', '172.16.0.1'],
  ['the end of 172.16/12', '172.31.255.255'],
  ['private 192.168/16', '192.168.1.1'],
  ['private 192.168/16 in hex', '0xc0a80101'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['the end of carrier-grade NAT', '100.127.255.255'],
  ['link-local', '169.254.1.1'],
  ['metadata', '169.254.169.254'],
  ['metadata in decimal', '2852039166'],
  ['metadata in octal', '0251.0376.0251.0376'],
  ['metadata in hex', '0xa9fea9fe'],
  ['metadata with overflow parts', '169.254.43518'],
  ['metadata of Alibaba', '100.100.100.200'],
  ['metadata of Oracle', '192.0.0.192'],
  ['protocol assignments', '192.0.0.8'],
  ['documentation 1', '192.0.2.1'],
  ['documentation 2', '198.51.100.1'],
  ['documentation 3', '203.0.113.1'],
  ['6to4 relays', '192.88.99.1'],
  ['benchmarking', '198.18.0.1'],
  ['the end of benchmarking', '198.19.255.255'],
  ['multicast', '224.0.0.1'],
  ['the end of multicast', '239.255.255.255'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['v4-mapped private', '[::ffff:10.0.0.1]'],
  ['v4-mapped metadata in hex', '[::ffff:a9fe:a9fe]'],
  ['v4-translated', '[::ffff:0:127.0.0.1]'],
  ['NAT64', '[64:ff9b::127.0.0.1]'],
  ['NAT64 of metadata', '[64:ff9b::a9fe:a9fe]'],
  ['NAT64 of the local prefix', '[64:ff9b:1::10.0.0.1]'],
  ['6to4 of loopback', '[2002:7f00:1::]'],
  ['6to4 of metadata', '[2002:a9fe:a9fe::1]'],
  ['Teredo', '[2001:0:4136:e378:8000:63bf:80ff:fffe]'],
  ['unique local', '[fc00::1]'],
  ['unique local, locally given', '[fd12:3456:789a::1]'],
  ['metadata over IPv6', '[fd00:ec2::254]'],
  ['IPv6 link-local', '[fe80::1]'],
  ['the end of IPv6 link-local', '[febf::1]'],
  ['IPv6 site-local', '[fec0::1]'],
  ['IPv6 multicast', '[ff02::1]'],
  ['IPv6 documentation', '[2001:db8::1]'],
  ['IPv6 documentation 2', '[3fff::1]'],
  ['IPv6 benchmarking', '[2001:2::1]'],
  ['ORCHID', '[2001:20::1]'],
  ['discard', '[100::1]'],
  ['SRv6', '[5f00::1]'],
] as const

/** Whole URLs that say something else than they seem to; PORT is the trap's. */
const NO_URLS = [
  ['a user before loopback', 'https://good.example@127.0.0.1:PORT/'],
  ['a user and a password', 'https://user:secret@127.0.0.1:PORT/'],
  ['an encoded @ in the user', 'https://good.example%40x@127.0.0.1:PORT/'],
  ['an empty password', 'https://good.example:@127.0.0.1:PORT/'],
  ['a zone', 'https://[fe80::1%25lo]:PORT/'],
  ['an encoded slash in the host', 'https://127.0.0.1%2f.example:PORT/'],
  ['an encoded NUL in the host', 'https://127.0.0.1%00.example:PORT/'],
  ['a number above 32 bits', 'https://4294967297:PORT/'],
  ['a part above 8 bits', 'https://127.0.0.256:PORT/'],
  ['five parts', 'https://127.0.0.0.1:PORT/'],
  ['brackets round IPv4', 'https://[127.0.0.1]:PORT/'],
  ['two trailing dots', 'https://localhost..:PORT/'],
  ['an empty label', 'https://a..localhost:PORT/'],
  ['http', 'http://127.0.0.1:PORT/'],
  ['http to a public address', 'http://93.184.216.34:PORT/'],
  ['a file', 'file:///etc/passwd'],
  ['gopher', 'gopher://127.0.0.1:PORT/_GET'],
  ['data', 'data:text/plain,hello'],
  ['no scheme', '//127.0.0.1:PORT/'],
  ['nothing', ''],
] as const

const SNEAKY = [
  ['a backslash for a slash', 'https:\\\\127.0.0.1:PORT\\'],
  ['one slash', 'https:/127.0.0.1:PORT/'],
  ['no slash', 'https:127.0.0.1:PORT/'],
  ['a tab in the host', 'https://127.0.\t0.1:PORT/'],
  ['a line end in the host', 'https://127.0.\n0.1:PORT/'],
  ['space round it', '  https://127.0.0.1:PORT/  '],
  ['an @ after a fragment', 'https://127.0.0.1:PORT#@good.example/'],
  ['an @ after a backslash', 'https://127.0.0.1:PORT\\@good.example/'],
  ['a soft hyphen', 'https://127.0.0.1\u00ad:PORT/'],
] as const

/** Names a server answers for; all but the first lead, at one time or in one of their addresses, where nothing may go. */
const PUBLIC = '93.184.216.34'
const ZONE = {
  'public.test': () => ({ a: [PUBLIC], aaaa: ['2606:2800:220:1:248:1893:25c8:1946'] }),
  'loopback.test': () => ({ a: ['127.0.0.1'] }),
  'loopback6.test': () => ({ aaaa: ['::1'] }),
  'private.test': () => ({ a: ['10.0.0.7'] }),
  'metadata.test': () => ({ a: ['169.254.169.254'] }),
  'mapped.test': () => ({ aaaa: ['::ffff:127.0.0.1'] }),
  'nat64.test': () => ({ aaaa: ['64:ff9b::7f00:1'] }),
  'mixed.test': () => ({ a: [PUBLIC, '127.0.0.1'] }),
  'mixed-first.test': () => ({ a: ['127.0.0.1', PUBLIC] }),
  'mixed6.test': () => ({ a: [PUBLIC], aaaa: ['::1'] }),
  'alias.test': () => ({ alias: 'localhost', a: ['127.0.0.1'] }),
  'rebind.test': (asked: number) => ({ a: [asked === 1 ? PUBLIC : '127.0.0.1'] }),
  'two.test': () => ({ a: ['127.9.9.9', '127.0.0.1'] }),
  'moves.test': (asked: number) => ({ a: [asked === 1 ? '127.0.0.1' : '10.0.0.7'] }),
  'hook.test': () => ({ a: ['127.0.0.1'] }),
}
const REFUSED_NAMES = Object.keys(ZONE).filter((name) => /^(loop|priv|meta|map|nat|mixed|alias)/.test(name))

const allOf = (hosts: readonly (readonly [string, string])[]) =>
  hosts.map(([what, host]) => [what, `https://${host}:PORT/hook`] as const)

spec('the egress guard', (t) => {
  let names: NamesServer
  let trap: Trap
  let strict: Egress
  let lenient: Egress
  let watch: ReturnType<typeof watchAttempts>
  const keys = makeTestKeys()
  const at = (url: string) => url.replace('PORT', String(trap.port))

  t.before(async () => {
    names = await startNamesServer(ZONE)
    trap = await setTrap(['127.0.0.1', '127.1.2.3', '127.255.255.254', '::1'])
    const resolve = resolveBy(names.address)
    strict = makeEgress({ allowLoopback: false, resolve, ca: keys.ca })
    lenient = makeEgress({ allowLoopback: true, resolve, ca: keys.ca })
  })
  t.before.each(() => {
    watch = watchAttempts()
  })
  t.after.each(() => watch.stop())
  t.after(async () => {
    await strict.close()
    await lenient.close()
    await trap.close()
    await names.close()
  })

  const neverReached = async (egress: Egress, url: string, fault: string) => {
    const before = trap.connections()
    assert.is(outcomeOf(await egress.exchange(posting(at(url)))), fault)
    assert.equal(watch.attempts, [])
    assert.is(trap.connections(), before)
  }

  t('has a trap that counts, and sees every attempt to connect', async () => {
    const before = trap.connections()
    for (const address of ['127.0.0.1', '::1', '127.1.2.3', '0.0.0.0', '::ffff:127.0.0.1']) {
      await new Promise((resolve) => connect(trap.port, address).on('close', resolve))
    }
    assert.is(trap.connections(), before + 5)
    assert.is(watch.attempts.length, 5)
  })

  t('is tried with sixty hosts and more', () => assert.ok(LOOPBACK.length + PRIVATE.length >= 60))
  for (const [what, url] of [...allOf(LOOPBACK), ...allOf(PRIVATE), ...SNEAKY]) {
    t(`opens no socket to ${what}: ${JSON.stringify(url)}`, async () => {
      await neverReached(strict, url, 'EGRESS_REFUSED')
      assert.is(await strict.judge(at(url)), 'does not lead to a public address')
    })
  }
  for (const [what, url] of NO_URLS) {
    t(`takes ${what} for no address: ${JSON.stringify(url)}`, async () => {
      await neverReached(strict, url, 'BAD_URL')
      assert.match(
        String(await strict.judge(at(url))),
        /^(is no address|is no https address|holds a user or a password)$/,
      )
    })
  }
  for (const name of REFUSED_NAMES) {
    t(`opens no socket for ${name}, of which an address is not public`, async () => {
      await neverReached(strict, `https://${name}:PORT/`, 'EGRESS_REFUSED')
      await neverReached(strict, `https://${name}.:PORT/`, 'EGRESS_REFUSED')
      assert.is(await strict.judge(`https://${name}/`), 'does not lead to a public address')
    })
  }
  t(
    'lets a name through that was public when it was stored, and refuses it when it has moved (rebinding)',
    async () => {
      assert.is(await strict.judge('https://rebind.test/'), null)
      await neverReached(strict, 'https://rebind.test:PORT/', 'EGRESS_REFUSED')
    },
  )
  t('asks for a name once for each connection, so that nothing can move in between', async () => {
    const before = names.asked.length
    assert.is(outcomeOf(await strict.exchange(posting('https://private.test/'))), 'EGRESS_REFUSED')
    assert.equal(names.asked.slice(before).sort(), ['A private.test', 'AAAA private.test'])
  })
  t('says of an address what is wrong with it now, and nothing of what is sound or leads nowhere yet', async () => {
    for (const url of [
      'https://public.test/',
      `https://${PUBLIC}/`,
      'https://nowhere.test/',
      'https://[2606:4700::1]/',
    ]) {
      assert.is(await strict.judge(url), null)
    }
    assert.equal(watch.attempts, [])
  })
  t('judges at its limit, though the name is looked up for ever', async () => {
    const slow = makeEgress({ allowLoopback: false, resolve: () => new Promise(() => {}) })
    assert.is(await slow.judge('https://slow.test/'), null)
    await slow.close()
  })
  t('tells of a name that leads nowhere', async () => {
    await neverReached(strict, 'https://nowhere.test:PORT/', 'NO_SUCH_NAME')
  })
  t('tells the user nothing of the addresses behind his name', async () => {
    for (const name of [...REFUSED_NAMES, 'nowhere.test']) {
      const answer = await strict.exchange(posting(`https://${name}/`))
      assert.not.match(answer.ok ? '' : answer.detail, /\d\.|:\d|::/)
    }
  })

  for (const [what, url] of allOf(PRIVATE)) {
    t(`opens no socket to ${what} under the development exception either, with and without TLS`, async () => {
      await neverReached(lenient, url, 'EGRESS_REFUSED')
      await neverReached(lenient, url.replace('https:', 'http:'), 'EGRESS_REFUSED')
    })
  }
  t('talks without TLS to loopback alone under the development exception', async () => {
    for (const host of [PUBLIC, 'public.test', '[2606:4700::1]', 'mixed.test']) {
      await neverReached(lenient, `http://${host}:PORT/`, 'EGRESS_REFUSED')
      assert.is(await lenient.judge(`http://${host}/`), 'is no https address')
    }
  })
})

const status = (code: number, location: string) =>
  `HTTP/1.1 ${code} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`

spec('the egress guard under the development exception', (t) => {
  let names: NamesServer
  let plain: Receiver
  let plain6: Receiver
  let secure: Receiver
  let egress: Egress
  const keys = makeTestKeys()

  t.before(async () => {
    names = await startNamesServer(ZONE)
    plain = await startReceiver(always(OK))
    plain6 = await startReceiver(always(OK), { address: '::1', port: plain.port })
    secure = await startReceiver(always(OK), { keys: keys.good })
    egress = makeEgress({ allowLoopback: true, resolve: resolveBy(names.address), ca: keys.ca })
  })
  t.after(async () => {
    await egress.close()
    await Promise.all([plain, plain6, secure, names].map((one) => one.close()))
  })

  for (const host of [
    '127.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'a.localhost',
    'hook.test',
    'hook.test.',
  ]) {
    t(`reaches ${host} without TLS`, async () => {
      const url = `http://${host}:${plain.port}/`
      assert.is(await egress.judge(url), null)
      assert.is(outcomeOf(await egress.exchange(posting(url))), 'ok 200')
    })
  }
  t('reaches a name over TLS by its own name, and says so in host', async () => {
    const answer = await egress.exchange(posting(`https://hook.test:${secure.port}/a?b=c#d`))
    assert.is(outcomeOf(answer), 'ok 200')
    assert.is(secure.names.at(-1), 'hook.test')
    assert.ok(secure.received.at(-1)?.startsWith(`POST /a?b=c HTTP/1.1\r\nhost: hook.test:${secure.port}\r\n`))
  })
  t('names nobody in the handshake with an address', async () => {
    assert.is(outcomeOf(await egress.exchange(posting(`https://127.0.0.1:${secure.port}/`))), 'ok 200')
    assert.is(secure.names.at(-1), false)
  })
  t('tries all the addresses of a name, and none but those', async () => {
    const watch = watchAttempts()
    assert.is(outcomeOf(await egress.exchange(posting(`http://two.test:${plain.port}/`))), 'ok 200')
    assert.equal(watch.attempts, ['127.9.9.9', '127.0.0.1'])
    watch.stop()
  })
  t('sends nothing but what it was given, host, user-agent, content-length and connection', async () => {
    const receiver = await startReceiver(always(OK))
    await egress.exchange(posting(`http://127.0.0.1:${receiver.port}/`, { headers: { 'x-one': '1' } }))
    const [head = '', body] = (receiver.received[0] ?? '').split('\r\n\r\n')
    assert.equal(head.split('\r\n').sort(), [
      'POST / HTTP/1.1',
      'connection: keep-alive',
      'content-length: 14',
      `host: 127.0.0.1:${receiver.port}`,
      'user-agent: Bottega',
      'x-one: 1',
    ])
    assert.is(body, '{"id":"evt_1"}')
    await receiver.close()
  })
  t('throws for headers that cannot be sent', async () => {
    const bad = posting(`http://127.0.0.1:${plain.port}/`, { headers: { 'x-one': 'a\r\nx-two: b' } })
    await assert.rejects(egress.exchange(bad), 'cannot be sent')
  })
  t('asks no proxy that the environment names', async () => {
    const trap = await setTrap(['127.0.0.1'])
    const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
    for (const name of proxies) process.env[name] = `http://127.0.0.1:${trap.port}`
    const fresh = makeEgress({ allowLoopback: true, ca: keys.ca })
    assert.is(outcomeOf(await fresh.exchange(posting(`http://127.0.0.1:${plain.port}/`))), 'ok 200')
    assert.is(outcomeOf(await fresh.exchange(posting(`https://127.0.0.1:${secure.port}/`))), 'ok 200')
    assert.is(trap.connections(), 0)
    for (const name of proxies) delete process.env[name]
    await fresh.close()
    await trap.close()
  })
  for (const code of [301, 302, 303, 307, 308]) {
    t(`follows no ${code}, to a private address or to any`, async () => {
      const trap = await setTrap(['127.0.0.1'])
      const watch = watchAttempts()
      const locations = [`http://127.0.0.1:${trap.port}/`, 'http://10.0.0.1/', 'https://169.254.169.254/latest/']
      for (const location of locations) {
        const receiver = await startReceiver(always(status(code, location)))
        const answer = await egress.exchange(posting(`http://127.0.0.1:${receiver.port}/`))
        assert.is(outcomeOf(answer), `ok ${code}`)
        assert.is(answer.ok && answer.headers.location, location)
        await receiver.close()
      }
      assert.equal(
        watch.attempts,
        locations.map(() => '127.0.0.1'),
      )
      assert.is(trap.connections(), 0)
      watch.stop()
      await trap.close()
    })
  }
  t('judges a name again for each connection that it opens, and at the latest after a minute', async () => {
    const receiver = await startReceiver(always(OK))
    const url = `http://moves.test:${receiver.port}/`
    const single = makeEgress({ allowLoopback: true, resolve: resolveBy(names.address), connectionsPerOrigin: 1 })
    const realNow = Date.now
    try {
      for (let i = 0; i < 3; i += 1) assert.is(outcomeOf(await single.exchange(posting(url))), 'ok 200')
      assert.is(receiver.received.length, 1)
      Date.now = () => realNow() + 60_001
      assert.is(outcomeOf(await single.exchange(posting(url))), 'EGRESS_REFUSED')
      assert.is(receiver.received.length, 1)
    } finally {
      Date.now = realNow
      await single.close()
      await receiver.close()
    }
  })
})

spec('the names of the system', (t) => {
  const hosts =
    '127.0.0.1 localhost  a.test # b.test\n#10.0.0.1 a.test\n\n::1\tA.Test\nnonsense a.test\n10.0.0.2 aa.test'
  t('are read from the hosts file, comments and case aside', () => {
    assert.equal(addressesIn(hosts, 'a.test'), ['127.0.0.1', '::1'])
    assert.equal(addressesIn(hosts, 'b.test'), [])
    assert.equal(addressesIn(hosts, ''), [])
  })
  t('hold localhost without any server', async () => {
    assert.ok((await makeResolve()('localhost')).includes('127.0.0.1'))
  })
})
