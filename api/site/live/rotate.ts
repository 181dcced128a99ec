/** Ending the link to a preview or to the page of a review, or the address that a contact form posts to: a fact that holds from when it is stored (rules/platform.md#links). */
import { named } from '../../../crds/kernel/named.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import { siteAnswer } from '../../../crds/site/answer.ts'
import { SITE } from '../../../crds/site/kind.ts'
import type { SiteLink } from '../../../crds/site/links.ts'
import { FIRST_LINK } from '../../../crds/values/links.ts'
import { append } from '../../command/report.ts'
import { settle } from '../../command/settle.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { object, textOrNull, whole } from '../../openapi/schemas.ts'
import { rotateBody, rotation } from '../../page/links.ts'
import type { Route } from '../../wiring/route.ts'
import { rotateCommand, rotatedAnswer } from '../commands.ts'
import type { SiteNeeds } from '../needs.ts'
import { sites } from '../read.ts'
import { pendingAnswer } from '../shapes.ts'

const rotate =
  (purpose: SiteLink) =>
  async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
    const row = await sites.find(deps, request)
    const fact = rotation(request, purpose, row.view.link_versions?.[purpose] ?? FIRST_LINK)
    if (fact === null) return rotatedAnswer(row, purpose, true)
    return settle(deps, request, rotateCommand, {
      ...sites.commandOn(row),
      act: () => append(deps, { kind: SITE, name: row.name, fact }),
    })
  }

const rotated = named(
  'RotatedSiteLink',
  object('What leads there from now on.', {
    site: siteAnswer,
    version: whole('The good one; those before it are ended.'),
    url: textOrNull(
      'The new link; null while there is none to a review, and of a form, whose address stands in the pages.',
    ),
    replayed: { type: 'boolean', description: 'True where it had come to that version already.' },
  }),
)

const one = '/api/website/:id'
const shared = {
  method: 'POST' as const,
  tag: 'Websites',
  scope: { kind: 'scope' as const, scope: 'websites:write' as const },
  body: rotateBody,
  answers: {
    200: { description: 'What leads there from now on.', schema: rotated },
    202: pendingAnswer,
  },
  codes: ['NOT_FOUND', 'INVALID_FIELD'] as ProblemCode[],
}

export const rotateRoutes: Route<SiteNeeds>[] = [
  {
    ...shared,
    path: `${one}/preview/rotate`,
    summary: 'End the link to the preview',
    description:
      'Every link of before leads nowhere from the moment that this is stored, those to a frozen preview too: a reviewer opens it anew.',
    handle: rotate('preview'),
  },
  {
    ...shared,
    path: `${one}/review/rotate`,
    summary: "End the link to the reviewer's page",
    description:
      'Every link of before leads nowhere from the moment that this is stored. What was decided stays decided.',
    handle: rotate('review'),
  },
  {
    ...shared,
    path: `${one}/form/rotate`,
    summary: 'End the address of the contact form',
    description:
      'What is posted to the address of before goes nowhere from the moment that this is stored. The pages with the new one are approved as they were, and go live with the next publish.',
    handle: rotate('form'),
  },
]
