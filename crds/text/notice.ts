/** The letter that the platform writes to its own users: some sentences and one link. In English. */
import { type MailParts, mailOf } from './mail.ts'

/** Each of `lead` is a paragraph; `label` says where the link leads, `words` what it is pressed for. */
export type NoticeText = { subject: string; lead: readonly string[]; label: string; words: string; url: string }

/** One line of text: in sentences and subjects a line break would start something of its own. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()

/** Pure: the same notice gives the same mail. */
export const noticeMail = ({ subject, lead, label, words, url }: NoticeText): MailParts =>
  mailOf({ lang: 'en', subject, greeting: 'Hello,', lead, link: { url, words, label } })
