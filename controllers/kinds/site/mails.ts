/**
 * The mails about a site: to its owner, that the proof of a domain is gone, what was decided or what a visitor wrote; to reviewers,
 * that it waits.
 */
import { type NameMail, nameMail } from '../../../crds/site/names/mail.ts'
import { type MessageMail, messageMail } from '../../../crds/site/publishing/messages/message.ts'
import {
  type ReviewDecidedMail,
  type ReviewWaitsMail,
  reviewDecidedMail,
  reviewWaitsMail,
} from '../../../crds/site/reviewing/mail.ts'
import { openMessage } from '../../store/site/messages.ts'
import { type MailOf, type Mails, mailTo } from '../mails.ts'

const name: MailOf = {
  compose: (row) => {
    const notice = row.payload as NameMail
    return mailTo(row, { name: '', address: notice.to }, nameMail(notice))
  },
}

/** An answer goes to the visitor, whose address stands in one header alone. */
const message: MailOf = {
  compose: (row, { keys }) => {
    const notice = row.payload as MessageMail
    if (!row.sealed) throw new Error('the message of a mail is there no more')
    const written = openMessage(keys, notice.message, row.sealed)
    const replyTo = { name: written.name, address: written.email }
    return mailTo(row, { name: '', address: notice.to }, { ...messageMail(notice, written), replyTo })
  },
  overBecause: ({ sealed }) => (sealed ? null : 'the message was deleted'),
}

const waits: MailOf = {
  compose: (row, { publicUrl }) => {
    const notice = row.payload as ReviewWaitsMail
    return mailTo(row, { name: '', address: notice.to }, reviewWaitsMail(notice, publicUrl))
  },
}

const decided: MailOf = {
  compose: (row, { publicUrl }) => {
    const notice = row.payload as ReviewDecidedMail
    return mailTo(row, { name: '', address: notice.to }, reviewDecidedMail(notice, publicUrl))
  },
}

export const SITE_MAILS: Mails = {
  'domain-missing': name,
  'domain-lapsed': name,
  'base-missing': name,
  'base-lapsed': name,
  'site-message': message,
  'review-waits': waits,
  'review-decided': decided,
}
