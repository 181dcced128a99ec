/** What a reviewer is told of a drafted site: which words rest on its source, which on nothing, and which the owner wrote. */

import { toRest } from '../../../crds/kernel/rest.ts'
import { content as contentSchema } from '../../../crds/site/content/content.ts'
import type { StandingProvenance, ValueStanding } from '../../../crds/site/content/drafting/provenance.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { instant } from '../../page/facts.ts'
import type { SiteNeeds } from '../needs.ts'
import { provenanceOf } from './provenance.ts'

const LISTED_MAX = 60
const SHOWN_CHARS = 300

const HEADS: Record<ValueStanding, string> = {
  unsupported: 'The model’s own words, which its source does not hold: check these',
  other: 'Not of the draft: of the owner, or of the preset',
  supported: 'Words that rest on the source',
}

const placeOf = ({ rests_on }: StandingProvenance): Html | null => {
  if (rests_on === null) return null
  const { source, page, quote } = rests_on
  return html`<br><span class="hint">“${quote.slice(0, SHOWN_CHARS)}” (${source}${page === null ? '' : `, page ${page}`})</span>`
}

const listOf = (standing: ValueStanding, values: readonly StandingProvenance[]): Html | null => {
  const own = values.filter((one) => one.standing === standing)
  if (own.length === 0) return null
  const rest = own.length - LISTED_MAX
  return html`<details${standing === 'unsupported' && html` open`}><summary>${HEADS[standing]} (${String(own.length)})</summary>
<ul>${own
    .slice(0, LISTED_MAX)
    .map((one) => html`<li><code>${one.pointer}</code> ${one.text.slice(0, SHOWN_CHARS)}${placeOf(one)}</li>`)}</ul>
${rest > 0 && html`<p class="hint">and ${String(rest)} more</p>`}</details>`
}

/** A section of the review page; null for a site that was not drafted from a source. */
export const provenanceSection = (
  found: { drafted_at: string; values: readonly StandingProvenance[] } | null,
): Html | null =>
  found &&
  html`<section><h2>What the words rest on</h2>
<p>Drafted by a language model on ${instant(found.drafted_at)}; every quote below was looked up in the source.</p>
${(['unsupported', 'other', 'supported'] as const).flatMap((standing) => listOf(standing, found.values) ?? [])}</section>`

/** Of the bytes that were submitted. @param content as the rendering was made of it, in the names of the spec */
export const provenanceShown = async (deps: SiteNeeds, site: string, content: unknown): Promise<Html | null> =>
  provenanceSection(await provenanceOf(deps, site, toRest(contentSchema, content)))
