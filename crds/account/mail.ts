/** The mail that carries a link to sign in by. Says the same in text and in HTML, and names who asked for nothing. */
import { type MailParts, mailOf } from '../text/mail.ts'

export type SigninMailFacts = {
  /** The page that the link opens; it asks once more before it signs anybody in. */
  url: string
  /** For how long it opens. */
  minutes: number
}

/** Pure: the same facts give the same mail, so that a repeat after a crash sends no other text. */
export const signinMail = ({ url, minutes }: SigninMailFacts): MailParts => {
  const host = URL.canParse(url) ? new URL(url).host : 'Bottega'
  return mailOf({
    lang: 'en',
    subject: `Sign in to ${host}`,
    greeting: 'Hello,',
    lead: [`Open this link to sign in to ${host}. It works once, for ${minutes} minutes.`],
    link: { url, words: 'Sign in', label: null },
    footer: ['If you did not ask for it, do nothing: nobody is signed in without this link.'],
  })
}
