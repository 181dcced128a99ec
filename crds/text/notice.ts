/** The letter that the platform writes to its own users: some sentences and one link, the same in text and in HTML. In English. */
import { html, safeUrl, textOf } from './html.ts'

/** Each of `lead` is a paragraph; `label` says where the link leads. */
export type NoticeText = { subject: string; lead: readonly string[]; label: string; url: string }

/** One line of text: in sentences and subjects a line break would start something of its own. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()

const FONT = 'font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif'

/** Pure: the same notice gives the same mail. */
export const noticeMail = ({
  subject,
  lead,
  label,
  url,
}: NoticeText): { subject: string; text: string; html: string } => {
  const link = safeUrl(url)
  return {
    subject,
    text: `Hello,\n\n${lead.join('\n\n')}\n\n${label}:\n${link}\n`,
    html: textOf(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${subject}</title></head>
<body style="margin:0;padding:24px 16px;${FONT}">
<div style="max-width:520px;margin:0 auto">
<p>Hello,</p>
${lead.map((line) => html`<p>${line}</p>`)}
<p style="font-size:13px">${label}: <a href="${link}">${link}</a></p>
</div>
</body>
</html>
`),
  }
}
