/** A message that a site was sent: its limits, how it is kept, and the mail to whoever the site belongs to. */
import type { MailParts } from '../../../text/mail.ts'
import { noticeMail, oneLine } from '../../../text/notice.ts'
import type { Content, SiteLang } from '../../content/content.ts'
import { langFolder, langsOf } from '../../content/languages.ts'
import { isNotFound } from '../../render/headers.ts'
import type { SiteManifest } from '../manifest.ts'
import { fileAt, INDEX_PATH } from '../manifest.ts'
import type { WrittenWords } from './written.ts'

/** Of one site on one day (UTC), whatever the plan: one site does not use up what its account may get. */
export const SITE_MESSAGES_PER_DAY = 40
/** Of one address, over all sites. */
export const ADDRESS_MESSAGES = 10
export const ADDRESS_WINDOW_SECONDS = 600
/** The same words to the same site are one message for so long. */
export const SAME_MS = 3_600_000
export const KEPT_DAYS = 30
/** Mails of messages to one account leave at least so far apart: others' mails go between. */
export const MAIL_APART_MS = 5_000

/** A form that the platform's own page shows: not posted by a person before, and asked for anew after. */
export const STAMP_MIN_MS = 2_000
export const STAMP_MAX_MS = 3_600_000

/** What is sealed of a message. `page` is the file that the form stands on. */
export type KeptMessage = WrittenWords & { page: string; lang: SiteLang }

/** Where a visitor came from, and goes back to: a page of the site, in its language; its first page for anything else. */
export const pageOf = (
  { content, ...manifest }: Pick<SiteManifest, 'content' | 'files'>,
  page: string,
): { page: string; lang: SiteLang } => {
  const isPage = page.endsWith(INDEX_PATH) && !isNotFound(page) && fileAt(manifest, page) !== undefined
  const known = isPage ? page : INDEX_PATH
  const [first = content.meta.lang, ...further] = langsOf(content)
  const lang = further.find((one) => known.startsWith(`${langFolder(one)}/`)) ?? first
  return { page: known, lang }
}

/** Under the address of the site, which ends in a slash. */
export const addressOfPage = (url: string, page: string): string => `${url}${page.replace(/index\.html$/, '')}#contact`

export const hasForm = ({ contact }: Pick<Content, 'contact'>): boolean => contact?.form === true

/** What the outbox holds: names only; the message itself stays sealed where it lies. */
export type MessageMail = {
  mail: 'site-message'
  message: string
  to: string
  /** The name of the company, and where the site is live. */
  site: string
  url: string
}

const VALUE_MAX = 300
const value = (text: string): string => oneLine(text).slice(0, VALUE_MAX)

/** Pure: the same message gives the same mail. What a stranger wrote stands in paragraphs of its own, as text. */
export const messageMail = (notice: MessageMail, written: KeptMessage): MailParts => {
  const site = value(notice.site)
  const { name, email, phone, message } = written
  return noticeMail({
    subject: `Message from ${value(name)} through ${site}`,
    lead: [
      `Somebody wrote to you by the contact form of ${site}. Nobody has checked who it is; an answer to this mail goes to the address that was given.`,
      `Name: ${value(name)}`,
      `Email: ${email}`,
      ...(phone === '' ? [] : [`Phone: ${phone}`]),
      ...message.split('\n').filter((line) => line !== ''),
    ],
    label: 'Your website',
    words: 'Open the website',
    url: notice.url,
  })
}
