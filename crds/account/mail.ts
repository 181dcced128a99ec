/** The mail that carries a link to sign in by. Says the same in text and in HTML, and names who asked for nothing. */
import { html, safeUrl, textOf } from '../text/html.ts'

export type SigninMailFacts = {
  /** The page that the link opens; it asks once more before it signs anybody in. */
  url: string
  /** For how long it opens. */
  minutes: number
}

const FONT = 'font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif'

/** Pure: the same facts give the same mail, so that a repeat after a crash sends no other text. */
export const signinMail = ({ url, minutes }: SigninMailFacts): { subject: string; text: string; html: string } => {
  const link = safeUrl(url)
  const host = URL.canParse(url) ? new URL(url).host : 'Bottega'
  const subject = `Sign in to ${host}`
  const lead = `Open this link to sign in to ${host}. It works once, for ${minutes} minutes.`
  const rest = 'If you did not ask for it, do nothing: nobody is signed in without this link.'
  return {
    subject,
    text: `Hello,\n\n${lead}\n\n${link}\n\n${rest}\n`,
    html: textOf(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${subject}</title></head>
<body style="margin:0;padding:24px 16px;${FONT}">
<div style="max-width:520px;margin:0 auto">
<p>Hello,</p>
<p>${lead}</p>
<p style="margin:28px 0"><a href="${link}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none">Sign in</a></p>
<p style="font-size:13px"><a href="${link}">${link}</a></p>
<p style="font-size:13px">${rest}</p>
</div>
</body>
</html>
`),
  }
}
