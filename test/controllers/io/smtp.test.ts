import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { SMTPServerOptions } from 'smtp-server'
import { type Mail, MailError, type Mailer, makeMailer, POOL_MAX } from '../../../controllers/io/mail.ts'
import { polite, type Stop, startScript, startSink } from '../../support/doubles/smtp.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const TIMEOUTS = { connectMs: 500, greetingMs: 500, idleMs: 500, totalMs: 3000 }
/** A total that outlasts the test: what ends before it was ended by a shorter one. */
const ENDLESS = { ...TIMEOUTS, totalMs: 600_000 }
const FROM = 'Bottega <no-reply@bottega.test>'

const mail = (changes: Partial<Mail> = {}): Mail => ({
  messageId: '<inv-1.1@bottega.test>',
  to: { name: 'ACME', address: 'billing@acme.test' },
  replyTo: { name: 'Demo Studio', address: 'owner@demo.test' },
  subject: 'Invoice INV-026-0001',
  text: 'Hello,\n.\n..dots\n',
  html: '<p>Hello, Zoë</p>',
  date: new Date('2026-11-21T12:00:00Z'),
  ...changes,
})

const withMailer = async (
  server: { url: string; stop: Stop },
  work: (mailer: Mailer) => Promise<void>,
  timeouts = TIMEOUTS,
): Promise<void> => {
  const mailer = makeMailer({ url: server.url, from: FROM, pool: 2, timeouts })
  try {
    await work(mailer)
  } finally {
    mailer.close()
    await server.stop()
  }
}

const fault = async (sending: Promise<unknown>): Promise<MailError> => {
  const error = await sending.then(
    () => new Error('the mail was accepted'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof MailError) return error
  throw error
}

spec('a mail that is taken', (t) => {
  t('says what it was given, in whichever way that is written on the way', async () => {
    const lines = [
      'a'.repeat(76),
      'b'.repeat(77),
      'c'.repeat(2_000),
      'ends in blanks \t ',
      '=3D = =',
      '.',
      '',
      'From x',
      '漢'.repeat(400),
    ]
    const random = fc.sample(fc.string({ unit: 'grapheme', maxLength: 300 }), { numRuns: 40, seed: 1 })
    const texts = [...lines, lines.join('\n'), ...random.map((text) => text.replace(/\r/g, ' '))].map(
      (text) => `${text} .`,
    )
    const sink = await startSink()
    await withMailer(sink, async (mailer) => {
      for (const text of texts) await mailer.send(mail({ text, html: `<pre>${text}</pre>` }))
      assert.equal(
        sink.taken.map(({ email }) => [email.text?.trimEnd(), email.html?.trimEnd()]),
        texts.map((text) => [text, `<pre>${text}</pre>`]),
      )
    })
  })

  t('arrives with its own Message-ID, date, both parts and the address for replies', async () => {
    const sink = await startSink()
    await withMailer(sink, async (mailer) => {
      const { accepted, response } = await mailer.send(mail({ headers: { 'X-Bottega-Invoice': 'inv-1' } }))
      assert.is(accepted, true)
      assert.match(response, /^250/)
      const [one] = sink.taken
      assert.equal([one?.from, one?.to], ['no-reply@bottega.test', ['billing@acme.test']])
      assert.is(one?.email.messageId, '<inv-1.1@bottega.test>')
      assert.is(one?.email.date, '2026-11-21T12:00:00.000Z')
      assert.is(one?.email.text?.trimEnd(), 'Hello,\n.\n..dots')
      assert.is(one?.email.html?.trim(), '<p>Hello, Zoë</p>')
      assert.equal(one?.email.replyTo, [{ name: 'Demo Studio', address: 'owner@demo.test' }])
      assert.is(one?.email.headers.find(({ key }) => key === 'x-bottega-invoice')?.value, 'inv-1')
    })
  })

  t('keeps its Message-ID when it is sent again', async () => {
    const sink = await startSink()
    await withMailer(sink, async (mailer) => {
      await mailer.send(mail())
      await mailer.send(mail())
      assert.equal(
        sink.taken.map(({ email }) => email.messageId),
        ['<inv-1.1@bottega.test>', '<inv-1.1@bottega.test>'],
      )
    })
  })

  t('goes over a new connection at once when the kept one is closed for having been idle', async () => {
    const first: Socket[] = []
    let taken = 0
    const server = await startScript((line, socket, body) => {
      if (body && line === '.') socket.write(`250 taken ${++taken}\r\n`)
      else if (line.startsWith('MAIL FROM') && socket === first[0]) socket.end('421 Timeout - closing connection\r\n')
      else polite(line, socket, body)
      if (body && line === '.') first.push(socket)
    })
    await withMailer(server, async (mailer) => {
      await mailer.send(mail())
      await sleep(20) // the pool takes the connection back a moment after the answer
      const { response } = await mailer.send(mail())
      assert.is(response, '250 taken 2')
      assert.is.not(first[0], first[1])
    })
  })

  t('shares few connections with many others', async () => {
    const sink = await startSink()
    const mailer = makeMailer({ url: sink.url, from: FROM, pool: 99, timeouts: TIMEOUTS })
    await Promise.all(Array.from({ length: 60 }, (_, n) => mailer.send(mail({ messageId: `<inv-${n}@bottega.test>` }))))
    assert.is(new Set(sink.taken.map(({ email }) => email.messageId)).size, 60)
    assert.ok(sink.sessions.size <= POOL_MAX, `${sink.sessions.size} connections`)
    mailer.close()
    await sink.stop()
  })
})

spec('a mail that is refused', (t) => {
  const refusals: [string, SMTPServerOptions, boolean, RegExp][] = []
  for (const [code, temporary] of [
    [450, true],
    [550, false],
  ] as const) {
    const refuse = () => Object.assign(new Error('not now'), { responseCode: code })
    const response = new RegExp(`^${code} not now`)
    refusals.push([`${code} to the recipient`, { onRcptTo: (_a, _s, done) => done(refuse()) }, temporary, response])
    refusals.push([`${code} to the sender`, { onMailFrom: (_a, _s, done) => done(refuse()) }, temporary, response])
    const onData: SMTPServerOptions['onData'] = (stream, _session, done) =>
      stream.on('end', () => done(refuse())).resume()
    refusals.push([`${code} to the message`, { onData }, temporary, response])
    // no verdict on the mail: a server that refuses everybody today
    refusals.push([`${code} to the connection`, { onConnect: (_s, done) => done(refuse()) }, true, response])
  }
  for (const [name, rules, temporary, response] of refusals) {
    t(`${name}: ${temporary ? 'another try may succeed' : 'final'}, and certainly not delivered`, async () => {
      await withMailer(await startSink(rules), async (mailer) => {
        const error = await fault(mailer.send(mail()))
        assert.is(error.temporary, temporary)
        assert.is(error.sentData, false)
        assert.match(error.response, response)
      })
    })
  }

  t('for a wrong password waits until somebody corrects it, and does not tell the password', async () => {
    const onAuth: SMTPServerOptions['onAuth'] = (_auth, _session, done) => done(new Error('no'))
    const sink = await startSink({ authOptional: false, onAuth, allowInsecureAuth: true })
    const url = sink.url.replace('//', '//user:s3cr3t-canary@')
    await withMailer({ url, stop: sink.stop }, async (mailer) => {
      const error = await fault(mailer.verify())
      assert.equal([error.temporary, (await fault(mailer.send(mail()))).temporary], [true, true])
      assert.not.match(JSON.stringify([error.message, error.response, error.stack, error]), /s3cr3t-canary/)
    })
  })

  t('with nobody listening is tried again later', async () => {
    const gone = await startScript(polite)
    await gone.stop()
    await withMailer({ url: gone.url, stop: async () => {} }, async (mailer) => {
      const error = await fault(mailer.send(mail()))
      assert.equal([error.temporary, error.sentData, error.response], [true, false, ''])
      assert.is((await fault(mailer.verify())).temporary, true)
    })
  })
})

spec('a mail server that hangs or cuts', (t) => {
  const cases: [string, Parameters<typeof startScript>, boolean][] = [
    ['never greets', [() => {}, ''], false],
    [
      'falls silent after HELO',
      [(line, socket) => void (line.startsWith('EHLO') || socket.write('250 ok\r\n'))],
      false,
    ],
    ['falls silent before the body', [(line, socket, body) => line === 'DATA' || polite(line, socket, body)], false],
    [
      'cuts before the body',
      [(line, socket, body) => (line === 'DATA' ? socket.destroy() : polite(line, socket, body))],
      false,
    ],
    ['falls silent after the body', [polite], true],
    [
      'cuts after the body',
      [(line, socket, body) => (line === '.' ? socket.destroy() : polite(line, socket, body))],
      true,
    ],
  ]
  for (const [name, script, sentData] of cases) {
    t(`${name}: ${sentData ? 'the outcome is unknown' : 'not delivered'}, known within the time-outs`, async () => {
      await withMailer(
        await startScript(...script),
        async (mailer) => {
          const error = await fault(mailer.send(mail()))
          assert.equal([error.temporary, error.sentData, error.response], [true, sentData, ''])
        },
        ENDLESS,
      )
    })
  }

  t('holds up no other mail: the drip of one connection ends at the total, the next goes on', async () => {
    let drips = 0
    const drip = (line: string, socket: Socket, body: boolean): void => {
      if (line !== '.') {
        polite(line, socket, body)
        return
      }
      drips += 1
      if (drips > 1) {
        socket.write('250 taken\r\n')
        return
      }
      const timer = setInterval(() => socket.write('250-wait\r\n'), 100)
      socket.on('close', () => clearInterval(timer))
    }
    await withMailer(await startScript(drip), async (mailer) => {
      const slow = fault(mailer.send(mail()))
      await new Promise((resolve) => setTimeout(resolve, 200))
      assert.is((await mailer.send(mail({ messageId: '<inv-2@bottega.test>' }))).response, '250 taken')
      const error = await slow
      assert.equal([error.temporary, error.sentData], [true, true])
    })
  })
})

spec('hostile names and subjects', (t) => {
  const EVIL = 'x\r\nBcc: evil@evil.test\r\n\r\n<script>'

  t('add no header, no recipient and no body', async () => {
    const sink = await startSink()
    await withMailer(sink, async (mailer) => {
      const evil = { name: EVIL, address: 'a@b.test' }
      for (const subject of [EVIL, 'a\nBcc: evil@evil.test', 'a\u2028b', `=?utf-8?Q?x=0ABcc:_evil@evil.test?=`]) {
        await mailer.send(
          mail({ subject, to: { ...evil, name: `"${EVIL}, c@d.test` }, replyTo: evil, headers: { 'X-A': EVIL } }),
        )
      }
      for (const { raw, to, email } of sink.taken) {
        assert.not.match(raw.split('\r\n\r\n')[0] ?? '', /^(Bcc|Cc):/im)
        assert.equal(to, ['a@b.test'])
        assert.equal(
          email.to?.map(({ address }) => address),
          ['a@b.test'],
        )
        assert.is(email.text?.trimEnd(), 'Hello,\n.\n..dots')
        assert.is(email.bcc, undefined)
        for (const name of [email.subject, email.to?.[0]?.name]) assert.not.match(name ?? '', /[\p{Cc}\u2028]/u)
      }
      assert.is(sink.taken.length, 4)
    })
  })

  const addresses = [
    'a@b.test\r\nRCPT TO:<evil@evil.test>',
    'a@b.test, evil@evil.test',
    '<a@b.test>',
    'a b@c.test',
    'a',
    '@b.test',
    '',
  ]
  for (const address of addresses) {
    t(`never reach the server as an address: ${JSON.stringify(address)}`, async () => {
      const sink = await startSink()
      await withMailer(sink, async (mailer) => {
        const one = await fault(mailer.send(mail({ to: { name: '', address } })))
        const other = await fault(mailer.send(mail({ replyTo: { name: '', address } })))
        assert.equal([one.temporary, one.code, other.code], [false, 'EADDRESS', 'EADDRESS'])
        assert.is(sink.sessions.size, 0)
      })
    })
  }

  t('are refused as Message-ID and as names of headers', async () => {
    const sink = await startSink()
    await withMailer(sink, async (mailer) => {
      for (const messageId of ['<a@b>\r\nBcc: evil@evil.test', 'a@b.test', '<a b@c.test>', '']) {
        assert.is((await fault(mailer.send(mail({ messageId })))).temporary, false)
      }
      assert.is((await fault(mailer.send(mail({ headers: { 'X-A\r\nBcc': 'e' } })))).temporary, false)
      assert.is(sink.taken.length, 0)
    })
  })
})
