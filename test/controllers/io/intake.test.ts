/** Pictures by address: what the guard answers, in the words of whoever wrote the content. */
import { IMAGE_BYTES_MAX } from '../../../controllers/io/pictures/images.ts'
import { type Intake, makeIntake } from '../../../controllers/io/pictures/intake.ts'
import { type Egress, makeEgress } from '../../../controllers/net/egress.ts'
import { makeTestKeys, type Receiver, setTrap, startReceiver } from '../../support/doubles/egress.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const head = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`

/** By path. */
const ANSWERS: Record<string, string> = {
  '/picture': `${head(4)}\u0089PNG`,
  '/missing': 'HTTP/1.1 404 No\r\ncontent-length: 2\r\n\r\nno',
  '/moved': 'HTTP/1.1 302 Found\r\nlocation: /picture\r\ncontent-length: 0\r\n\r\n',
  '/failing': 'HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\nno',
  '/largest': head(IMAGE_BYTES_MAX) + 'x'.repeat(IMAGE_BYTES_MAX),
  '/larger': head(IMAGE_BYTES_MAX + 1) + 'x'.repeat(IMAGE_BYTES_MAX + 1),
  '/short': `${head(10)}abc`,
  '/silent': '',
}

spec('pictures by address', (t) => {
  const keys = makeTestKeys()
  const signal = new AbortController().signal
  let receiver: Receiver
  let egress: Egress
  let intake: Intake
  let closedPort = 0
  t.before(async () => {
    receiver = await startReceiver(
      (socket, text) => socket.end(Buffer.from(ANSWERS[/^GET (\S+)/.exec(text)?.[1] ?? ''] ?? '', 'latin1')),
      { keys: keys.good },
    )
    const trap = await setTrap(['127.0.0.1'])
    closedPort = trap.port
    await trap.close()
    egress = makeEgress({
      allowLoopback: true,
      ca: keys.ca,
      resolve: async (name) => (name === 'hook.test' ? ['127.0.0.1'] : name === 'inner.test' ? ['10.0.0.1'] : []),
    })
    intake = makeIntake({ egress })
  })
  t.after(async () => {
    await egress.close()
    await receiver.close()
  })
  const taken = (url: string) =>
    intake(url.replace('PORT', String(receiver.port)).replace('CLOSED', String(closedPort)), signal)

  t('are asked for as pictures, and taken as they are', async () => {
    const got = await taken('https://hook.test:PORT/picture')
    assert.equal(got.ok && got.bytes, Buffer.from('\u0089PNG', 'latin1'))
    const asked = receiver.received.at(-1) ?? ''
    assert.match(asked, 'accept: image/avif,image/webp,image/png,image/jpeg\r\n')
    assert.match(asked, 'user-agent: Bottega\r\n')
  })
  t('may be as large as pictures may be', async () => {
    const got = await taken('https://hook.test:PORT/largest')
    assert.is(got.ok && got.bytes.length, IMAGE_BYTES_MAX)
  })
  const refused: [string, string][] = [
    ['not an address', 'is no address'],
    ['http://127.0.0.1:PORT/picture', 'is no plain https address'],
    ['ftp://hook.test/picture', 'is no plain https address'],
    ['https://user:secret@hook.test:PORT/picture', 'is no plain https address'],
    ['https://inner.test:PORT/picture', 'does not lead to a public address'],
    ['https://10.0.0.1/picture', 'does not lead to a public address'],
    ['https://nowhere.test:PORT/picture', 'does not lead to a public address'],
    ['https://hook.test:PORT/missing', 'was answered with 404'],
    ['https://hook.test:PORT/moved', 'was answered with 302'],
    ['https://hook.test:PORT/failing', 'was answered with 500'],
    ['https://hook.test:PORT/larger', `is larger than ${IMAGE_BYTES_MAX} bytes`],
    ['https://hook.test:PORT/short', 'broke off'],
    ['https://hook.test:PORT/silent', 'could not be fetched'],
    ['https://hook.test:CLOSED/picture', 'could not be fetched'],
    ['https://other.localhost:PORT/picture', 'could not be fetched'],
  ]
  for (const [url, reason] of refused) {
    t(`that are not to be had say why: ${url}`, async () => assert.equal(await taken(url), { ok: false, reason }))
  }
  t('are given up when the pass is', async () => {
    const got = await intake(`https://hook.test:${receiver.port}/picture`, AbortSignal.abort())
    assert.equal(got, { ok: false, reason: 'could not be fetched' })
  })
})
