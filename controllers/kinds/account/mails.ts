/** The mails to whoever an account is: the link to sign in, and what became of its webhooks. */
import { signinMail } from '../../../crds/account/mail.ts'
import { type WebhookNotice, webhookMail } from '../../../crds/webhook/mail.ts'
import { type MailOf, type Mails, mailTo } from '../mails.ts'

const MINUTE_MS = 60_000

/** `until` (ISO): the link opens nothing afterwards, and would only confuse. */
type SigninPayload = { id: string; email: string; until: string }

const signin: MailOf = {
  compose: (row, { keys, publicUrl }) => {
    const { id, email, until } = row.payload as SigninPayload
    const minutes = Math.round((Date.parse(until) - Date.parse(row.createdAt)) / MINUTE_MS)
    const url = `${publicUrl}/signin/link/${keys.signinToken(id)}`
    return mailTo(row, { name: '', address: email }, signinMail({ url, minutes }))
  },
  overBecause: ({ payload }, now) =>
    Date.parse((payload as SigninPayload).until) <= now.getTime() ? 'the link was over before it could be sent' : null,
}

const webhook: MailOf = {
  compose: (row) => {
    const notice = row.payload as WebhookNotice
    return mailTo(row, { name: '', address: notice.to }, webhookMail(notice))
  },
}

export const ACCOUNT_MAILS: Mails = { signin, 'webhook-dead': webhook, 'webhook-disabled': webhook }
