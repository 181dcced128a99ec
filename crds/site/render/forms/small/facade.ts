/**
 * The stand-in of a player: a frame whose document we write ourselves, with nothing in it but a link to the player. It lies over
 * poster and button, and whoever follows it has the player in that very place. No script runs, and nothing of the provider's is
 * asked for before: not by a browser either that fetches frames ahead (hack/decisions/111).
 */
import { type Html, html, rawText, textOf } from '../../../../text/html.ts'
import type { VideoSource } from '../../../content/video.ts'
import type { Frame } from '../../page/frame.ts'
import { documentShell } from '../../page/shell.ts'

/** The link is all there is, and its ring is seen on any poster. It holds no text of a caller: pages name it by its hash. */
export const FACADE_STYLE =
  'html,body,a{display:block;height:100%;margin:0}a:focus-visible{outline:3px solid #fff;outline-offset:-6px;box-shadow:inset 0 0 0 9px #000}'

/** What a player needs of the page, for the provider alone. */
const GRANTS = ['autoplay', 'encrypted-media', 'fullscreen', 'picture-in-picture']

/** The frame; the page is noted as one that shows the provider. */
export const facade = ({ content, signs, framed }: Frame, { embed, provider }: VideoSource, title: string): Html => {
  const { origin } = new URL(embed)
  framed.add(origin)
  const inside = documentShell({
    lang: content.meta.lang,
    head: html`<title>${title}</title><style>${rawText(FACADE_STYLE)}</style>`,
    body: html`<a href="${embed}" aria-label="${signs.watch}: ${title}"></a>`,
  })
  const grants = GRANTS.map((grant) => `${grant} ${origin}`).join('; ')
  return html`<iframe class="reel" title="${title} (${provider})" allow="${grants}" srcdoc="${textOf(inside)}"></iframe>`
}
