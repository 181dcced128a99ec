/** The mails about a site: to its owner, that the proof of a domain is gone or what was decided; to reviewers, that it waits. */
import { type NameMail, nameMail } from '../../../crds/site/names/mail.ts'
import {
  type ReviewDecidedMail,
  type ReviewWaitsMail,
  reviewDecidedMail,
  reviewWaitsMail,
} from '../../../crds/site/reviewing/mail.ts'
import { type MailOf, type Mails, mailTo } from '../mails.ts'

const name: MailOf = {
  compose: (row) => {
    const notice = row.payload as NameMail
    return mailTo(row, { name: '', address: notice.to }, nameMail(notice))
  },
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
  'review-waits': waits,
  'review-decided': decided,
}
