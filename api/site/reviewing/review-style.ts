/** What the reviewer's page adds to the base. */
import { makeSheet } from '../../page/sheet.ts'

const RULES = `section > * + * { margin-top: 0.75rem; }
.facts { display: grid; grid-template-columns: minmax(0, 1fr); }
.facts > div { display: grid; grid-template-columns: 8rem minmax(0, 1fr); gap: 0 1.5rem; align-items: baseline; }
ul { padding-inline-start: 1.25rem; }
.said { white-space: pre-line; }
@media (max-width: 40rem) {
  .facts > div { grid-template-columns: minmax(0, 1fr); }
}`

export const REVIEW_SHEET = makeSheet('/review/assets', 'review', RULES)
