/**
 * The frame of every mail: a letter with one link, as a text part and an HTML part that say the same. The HTML needs no
 * picture and no script, takes the reader's own colours, light or dark, and breaks what is too long for a phone.
 * Source: rules/invoice.md#mails.
 */
import { type Html, html, safeUrl, textOf } from './html.ts'

/** Each of `lead` and `footer` is a paragraph. */
export type Letter = {
  lang: string
  subject: string
  greeting: string
  lead: readonly string[]
  /** `words` stand on the button; `label` before the address, or nothing where the lead announces it. */
  link: { url: string; words: string; label: string | null }
  /** How what is linked opens, and what it asks for. */
  gate?: { words: string; secret: string | null } | null
  /** What nobody has to read, in small print. */
  footer?: readonly string[]
}

export type MailParts = { subject: string; text: string; html: string }

/** Pure: the same letter gives the same mail, so that a repeat after a crash sends no other text. */
export const mailOf = (letter: Letter): MailParts => {
  const { subject, greeting, lead, link, gate = null, footer = [] } = letter
  const address = safeUrl(link.url)
  const secret = gate === null || gate.secret === null ? [] : [`    ${gate.secret}`]
  const blocks = [
    greeting,
    ...lead,
    link.label === null ? address : `${link.label}:\n${address}`,
    ...(gate === null ? [] : [[gate.words, ...secret].join('\n')]),
    ...footer,
  ]
  return { subject, text: `${blocks.join('\n\n')}\n`, html: textOf(frame(letter, address)) }
}

const FONT =
  'font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Noto Sans,PingFang TC,Microsoft JhengHei,Noto Sans CJK TC,sans-serif'
const BREAKS = 'overflow-wrap:anywhere;word-break:break-word'
/** To be seen on white and on black. */
const LINE = '1px solid #8a94a3'
const SMALL = 'margin:0 0 8px;font-size:13px'
const BUTTON =
  'display:inline-block;padding:12px 20px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none'
const SECRET = `display:inline-block;margin:0;padding:8px 14px;border:${LINE};border-radius:6px;font:600 18px/1.5 ui-monospace,Menlo,Consolas,monospace;letter-spacing:1px`

const paragraph = (line: string): Html => html`<p style="margin:0 0 16px">${line}</p>`

/**
 * The lead stands first and hidden, too: mail programs show the first words beside the subject. The language stands on the
 * table again, for those programs drop html and body; every language that we write runs from left to right.
 */
const frame = ({ lang, subject, greeting, lead, link, gate = null, footer = [] }: Letter, address: string): Html =>
  html`<!doctype html>
<html lang="${lang}" dir="ltr">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${subject}</title></head>
<body style="margin:0;padding:24px 16px;${FONT}">
<div style="display:none;max-height:0;overflow:hidden">${lead.join(' ')}</div>
<table role="presentation" lang="${lang}" dir="ltr" align="center" width="520" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:520px;margin:0 auto;table-layout:fixed">
<tr><td style="${FONT};text-align:left;${BREAKS}">
${paragraph(greeting)}
${lead.map(paragraph)}
<p style="margin:24px 0"><a href="${address}" style="${BUTTON}">${link.words}</a></p>
${gate !== null && paragraph(gate.words)}
${gate !== null && gate.secret !== null && html`<p style="${SECRET}">${gate.secret}</p>`}
</td></tr>
<tr><td style="padding-top:24px"><div style="padding-top:16px;border-top:${LINE};${FONT};font-size:13px;text-align:left;${BREAKS}">
<p style="${SMALL}">${link.label !== null && link.label !== link.words && html`${link.label}: `}<a href="${address}">${address}</a></p>
${footer.map((line) => html`<p style="${SMALL}">${line}</p>`)}
</div></td></tr>
</table>
</body>
</html>
`
