/** What visitors wrote into contact forms (sql/schema/039_messages.sql): taken in by the api, sealed; swept by whoever leads. */
import { createHmac, randomBytes } from 'node:crypto'
import { quotaDay } from '../../../crds/account/quotas.ts'
import type { SiteEvent } from '../../../crds/site/events.ts'
import {
  KEPT_DAYS,
  type KeptMessage,
  MAIL_APART_MS,
  type MessageMail,
  SAME_MS,
  SITE_MESSAGES_PER_DAY,
} from '../../../crds/site/publishing/messages/message.ts'
import { isHeld } from '../../../crds/site/publishing/messages/written.ts'
import type { Keys } from '../../base/keys.ts'
import { LEASE } from '../pg/fence.ts'
import type { Page } from '../pg/page.ts'
import type { Pg } from '../pg/pg.ts'

/** Of the sealer; what is sealed is about the message's id. */
export const MESSAGE_PURPOSE = 'site-message'

export type ReceivedMessage = 'kept' | 'again' | 'site_full' | 'account_full'
/** `mail`: the state of its row in the outbox; null where it is mailed to nobody. */
export type StoredMessage = { id: string; at: string; held: boolean; mail: string | null; message: KeptMessage }

export type NewMessage = {
  site: string
  account: string
  message: KeptMessage
  now: Date
  /** How many the account may be sent on this day. */
  limit: number
  letter: Pick<MessageMail, 'site' | 'url'>
  /** Told with the message's id and whether it is held, and without a word of it. */
  event: SiteEvent
  /** Of the mail's Message-ID. */
  mailHost: string
}

export type Messages = {
  receive(of: NewMessage): Promise<ReceivedMessage>
  /** Newest first. */
  list(site: string, page: Page): Promise<{ messages: StoredMessage[]; total: number; held: number }>
  /** @returns whether it was there */
  drop(site: string, id: string): Promise<boolean>
  /** Of all sites of an account, on a day. */
  used(account: string, day: string): Promise<number>
}

type Row = { id: string; at: string; held: boolean; mail: string | null; sealed: Buffer }

const RECEIVE = `
select receive_site_message($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) as outcome`
const LIST = `
select m.id, iso_ms(m.at) as at, m.held, m.sealed, o.state as mail
from site_messages m
left join outbox o on o.resource = 'message/' || m.id and o.purpose = 'message'
where m.site = $1 order by m.at desc, m.id limit $2 offset $3`
const COUNT = 'select count(*) as total, count(*) filter (where held) as held from site_messages where site = $1'
const USED = 'select count(*) as used from site_messages where account = $1 and day = $2'

export const makeMessages = ({ pg, keys }: { pg: Pg; keys: Pick<Keys, 'sealer' | 'lastingKey'> }): Messages => {
  const sealer = keys.sealer(MESSAGE_PURPOSE)
  const key = keys.lastingKey(MESSAGE_PURPOSE)
  /** Whoever has the database finds out by it neither what was written nor by whom. */
  const keyOf = (site: string, { name, email, phone, message }: KeptMessage): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([site, name, email, phone, message]))
      .digest()
  return {
    async receive({ site, account, message, now, limit, letter, event, mailHost }) {
      const id = `msg-${randomBytes(12).toString('hex')}`
      const held = isHeld(message)
      const told = { ...event, data: { ...event.data, message: { id, held } } }
      const { rows } = await pg.query<{ outcome: ReceivedMessage }>('receive_site_message', RECEIVE, [
        id,
        site,
        account,
        keyOf(site, message),
        sealer.seal(Buffer.from(JSON.stringify(message), 'utf8'), id),
        held,
        quotaDay(now),
        now.toISOString(),
        `${SAME_MS} milliseconds`,
        SITE_MESSAGES_PER_DAY,
        limit,
        `${MAIL_APART_MS} milliseconds`,
        `<message.${id}@${mailHost}>`,
        JSON.stringify(letter),
        JSON.stringify(told),
      ])
      const outcome = rows[0]?.outcome
      if (outcome === undefined) throw new Error('receive_site_message gave no outcome')
      return outcome
    },
    async list(site, { limit, offset }) {
      const [{ rows }, counted] = await Promise.all([
        pg.query<Row>('site_messages', LIST, [site, limit, offset]),
        pg.query<{ total: number; held: number }>('site_messages_count', COUNT, [site]),
      ])
      const messages = rows.map(
        ({ sealed, ...row }): StoredMessage => ({ ...row, message: openMessage(keys, row.id, sealed) }),
      )
      return { messages, ...(counted.rows[0] ?? { total: 0, held: 0 }) }
    },
    async drop(site, id) {
      const { rows } = await pg.query<{ was: boolean }>(
        'drop_site_message',
        'select drop_site_message($1, $2) as was',
        [site, id],
      )
      return rows[0]?.was === true
    },
    async used(account, day) {
      return (await pg.query<{ used: number }>('site_messages_used', USED, [account, day])).rows[0]?.used ?? 0
    },
  }
}

/** @throws where it was sealed under no key that is there */
export const openMessage = (keys: Pick<Keys, 'sealer'>, id: string, sealed: Buffer): KeptMessage =>
  JSON.parse(keys.sealer(MESSAGE_PURPOSE).open(sealed, id).toString('utf8')) as KeptMessage

/** What is older than a message may become. @throws StaleEpoch */
export const sweepMessages = async ({ pg, epoch }: { pg: Pg; epoch: () => number }, now: Date): Promise<void> => {
  const before = new Date(now.getTime() - KEPT_DAYS * 86_400_000).toISOString()
  await pg.query('sweep_site_messages', 'select sweep_site_messages($1, $2, $3)', [LEASE, epoch(), before])
}
