/** From an attempt that was the last to a mail in the owner's letter box: what is queued is what the mail sender can write. */

import { pino } from 'pino'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import type { Mail } from '../../../controllers/io/mail.ts'
import { makeOutbox } from '../../../controllers/store/ledger/outbox.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import type { Ended, EndpointAddress, WebhookDelivery } from '../../../controllers/store/webhook/deliveries.ts'
import { startMailSender } from '../../../controllers/workers/mail-sender.ts'
import type { OutboxWorker } from '../../../controllers/workers/outbox-worker.ts'
import { makeNotices } from '../../../controllers/workers/owner-notices.ts'
import { frozenInvoice } from '../../support/builders/frozen.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { freezing } from '../../support/stage/ledger.ts'
import { type Database, makeDatabase } from '../../support/stage/stage.ts'

const NOW = new Date('2026-11-22T12:00:00.000Z')
const now = () => NOW
const DELIVERY = { endpoint: 'we_1', account: 'demo' } as WebhookDelivery
const ADDRESS = { url: 'https://shop.test/hooks?key=s3cr3t' } as EndpointAddress
const noticeOf = makeNotices({
  accounts: { get: () => ({ email: 'owner@demo.test' }) as never },
  mailDomain: 'bottega.test',
  publicUrl: 'https://pay.test',
  now,
})

const ENDINGS: [string, Partial<Ended>, RegExp][] = [
  ['given up', { state: 'dead', fault: 'HTTP_503' }, /^An event could not be delivered to shop\.test$/],
  ['switched off', { state: 'dead', fault: 'HTTP_410', gone: 'it answered 410 Gone' }, /shop\.test was switched off$/],
]

spec('the mail about an endpoint', (t) => {
  let database: Database
  let pg: Pg
  let mailSender: OutboxWorker
  const sent: Mail[] = []
  t.before(async () => {
    database = await makeDatabase()
    pg = makePg({ url: database.url })
    const epoch = await takeEpoch(pg, 'test')
    const freeze = freezing({ pg, epoch: () => epoch })
    for (const [n, [, ended]] of ENDINGS.entries()) {
      const notice = noticeOf(DELIVERY, ADDRESS, ended as Ended)
      if (notice === null) throw new Error('nothing is told')
      const mail = { ...notice, channel: 'mail' }
      const about = {
        n: n + 1,
        at: NOW.toISOString(),
        gate: 'password' as const,
        frozen: frozenInvoice(),
        content: Buffer.from('pdf'),
      }
      await freeze({ ...about, resource: notice.resource, mail })
    }
    mailSender = startMailSender({
      outbox: makeOutbox({ pg, epoch: () => epoch, now }),
      mailer: { send: async (mail: Mail) => void sent.push(mail) } as never,
      keys: keysOfOne(Buffer.alloc(32, 7)),
      publicUrl: 'https://pay.test',
      now,
      log: pino({ level: 'silent' }),
      lanes: 1,
      onDelivered: () => {},
    })
    for (let waits = 0; waits < 200 && sent.length < ENDINGS.length; waits++) {
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  })
  t.after(async () => {
    await mailSender?.stop()
    await pg?.close()
    await database?.drop()
  })

  t('comes once for each that ended', () => assert.is(sent.length, ENDINGS.length))
  for (const [index, [what, , subject]] of ENDINGS.entries()) {
    t(`reaches the owner, and leads to the page of webhooks: ${what}`, () => {
      const mail = sent[index]
      assert.equal(mail?.to, { name: '', address: 'owner@demo.test' })
      assert.match(mail?.subject ?? '', subject)
      assert.ok(
        mail?.text.includes('https://pay.test/account/webhooks') && mail.html.includes('https://shop.test/hooks?…'),
      )
      assert.not.ok(`${mail?.text}${mail?.html}`.includes('s3cr3t'))
      assert.is(mail?.headers?.['Auto-Submitted'], 'auto-generated')
    })
  }
})
