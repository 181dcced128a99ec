/** The one HTML document that every page of a site is, whatever stands in it. */
import { type Html, html } from '../../../text/html.ts'

export type Shell = {
  lang: string
  /** After the character set and the viewport. */
  head: Html
  /** Attributes of the body, each after a space. */
  attributes?: Html
  body: Html
}

/** The language stands on the root, so that fonts, hyphens and readers' voices follow it. */
export const documentShell = ({ lang, head, attributes = html``, body }: Shell): Html =>
  html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
${head}
</head>
<body${attributes}>
${body}
</body>
</html>
`
