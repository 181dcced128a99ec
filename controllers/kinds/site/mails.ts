/** The mails to the owner of a site: the proof of a domain is gone. */
import { type NameMail, nameMail } from '../../../crds/site/names/mail.ts'
import { type MailOf, type Mails, mailTo } from '../mails.ts'

const name: MailOf = {
  compose: (row) => {
    const notice = row.payload as NameMail
    return mailTo(row, { name: '', address: notice.to }, nameMail(notice))
  },
}

export const SITE_MAILS: Mails = {
  'domain-missing': name,
  'domain-lapsed': name,
  'base-missing': name,
  'base-lapsed': name,
}
