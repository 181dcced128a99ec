/** The routes that draft websites, and that tell what drafted words rest on. */
import { named } from '../../../crds/kernel/named.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import type { JsonSchema } from '../../../crds/kernel/rest.ts'
import { warningAnswer } from '../../../crds/site/answer.ts'
import { draftSchema } from '../../../crds/site/content/drafting/proposal.ts'
import { SOURCE_KINDS } from '../../../crds/site/content/drafting/source.ts'
import { closed, list, object, oneOf, text, textOrNull, whole, withExamples } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { extractSite } from './extract.ts'
import { EXTRACT_MAX_BYTES, FILES_MAX_BYTES, PHOTO_MAX_BYTES, PHOTOS_MAX, TEXT_MAX_CHARS } from './limits.ts'
import { showProvenance } from './provenance.ts'

export const DRAFT_CODES: ProblemCode[] = [
  'ASSIST_QUOTA',
  'LLM_NOT_CONFIGURED',
  'LLM_UNAVAILABLE',
  'LLM_BAD_ANSWER',
  'BAD_SOURCE',
]
const FILE_TYPES = [
  'multipart/form-data',
  'application/pdf',
  'text/plain',
  'text/markdown',
  'image/jpeg',
  'image/png',
  'image/webp',
]
const MB = 1_000_000

const span: JsonSchema = named('SourceSpan', {
  type: ['object', 'null'],
  description: 'Where the words stand in the source, word for word; null where the source does not say it.',
  required: ['source', 'page', 'start', 'end', 'quote'],
  properties: {
    source: text('The name of the file, or brief.'),
    page: { type: ['integer', 'null'], description: 'Of a PDF, from 1.' },
    start: whole('Where it begins on the page, or in the text, in UTF-16 units.'),
    end: whole('Where it ends.'),
    quote: text('The words as they stand there.'),
  },
})
const value = {
  pointer: text('JSON pointer into the content.'),
  text: text('The value, or one sentence of it.'),
  rests_on: span,
}
const provenance = (description: string, more: Record<string, JsonSchema> = {}): JsonSchema =>
  list(description, object('One value, or one sentence of it.', { ...value, ...more }))

/** What is told of a draft: gaps, what the source does not hold, what was left out. */
const warnings = named(
  'SiteDraftWarnings',
  list('Gaps, what the source does not say, and what was left out.', warningAnswer),
)

const source = object('What it was drafted from.', {
  name: text('The name of the file, or brief.'),
  kind: oneOf('Its sort.', SOURCE_KINDS),
  pages: { type: ['integer', 'null'], description: 'Of a PDF.' },
  characters: whole('Of its text.'),
})

export const draftingRoutes: Route<SiteNeeds>[] = [
  {
    method: 'POST',
    path: '/api/website/extract',
    summary: 'Draft a site from a brochure, photos or a text',
    description:
      `One PDF with text, up to ${PHOTOS_MAX} photos (JPEG, PNG, WebP, ${PHOTO_MAX_BYTES / MB} MB each, sent to the model as they are), one .txt or .md file, or JSON with text: ` +
      `as multipart/form-data in the field files, or as the bytes themselves. ${FILES_MAX_BYTES / MB} MB in all, ${TEXT_MAX_CHARS} characters of text. No site is made. ` +
      'Whatever the source does not hold and could do harm is left out, and every other value names the words that it rests on, or none. ' +
      'Photos stand in the draft as asset:photo-1 and on: send them as assets of these names.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:write' },
    bodyMaxBytes: EXTRACT_MAX_BYTES,
    // whatever is none of these is refused by what it is
    bytesTypes: [...FILE_TYPES, '*/*'],
    body: withExamples(
      closed(
        object('A text.', {
          text: { ...text('The whole text.'), minLength: 1, maxLength: TEXT_MAX_CHARS, 'x-code': 'BAD_SOURCE' },
        }),
      ),
      { text: 'Voss Ceramics throws stoneware bowls by hand. A bowl is 48 EUR. Write to hello@voss.example.com.' },
    ),
    answers: {
      200: {
        description: 'The draft. Nothing is stored.',
        schema: object('The draft. Nothing is stored.', {
          draft: draftSchema,
          warnings,
          provenance: provenance('For each value of the draft the words that it rests on.'),
        }),
      },
    },
    codes: DRAFT_CODES,
    handle: extractSite,
  },
  {
    method: 'GET',
    path: '/api/website/:id/provenance',
    summary: 'Read what the words of a drafted site rest on',
    description: 'Of a site that was made from a brief, as its words are now; nothing for any other.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:read' },
    answers: {
      200: {
        description: 'What the words rest on.',
        schema: object('What the words rest on.', {
          drafted_at: textOrNull('When; null for a site that was not drafted.'),
          sources: list('What it was drafted from.', source),
          provenance: provenance('Each value that is there now.', {
            standing: oneOf(
              'supported: the source says it; unsupported: the words are the model’s own; other: of the owner, or of the preset.',
              ['supported', 'unsupported', 'other'],
            ),
          }),
        }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: showProvenance,
  },
]
