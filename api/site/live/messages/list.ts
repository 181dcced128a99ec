/** What visitors wrote to a site, for whoever it belongs to (rules/site.md#messages). */

import type { StoredMessage } from '../../../../controllers/store/site/messages.ts'
import { named } from '../../../../crds/kernel/named.ts'
import { Problem } from '../../../http/problem.ts'
import type { Answer, ApiRequest } from '../../../http/route.ts'
import { pagedAnswer, pageOf, pageQuery, paging } from '../../../openapi/paging.ts'
import { flag, list, object, text, textOrNull, whole } from '../../../openapi/schemas.ts'
import type { Route } from '../../../wiring/route.ts'
import type { SiteNeeds } from '../../needs.ts'
import { sites } from '../../read.ts'

const shown = ({ id, at, held, mail, message }: StoredMessage) => ({
  id,
  received_at: at,
  held,
  mail,
  name: message.name,
  email: message.email,
  phone: message.phone === '' ? null : message.phone,
  message: message.message,
  page: message.page,
  lang: message.lang,
})

const listMessages = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { name } = await sites.find(deps, request)
  const page = pageOf(request)
  const { messages, total, held } = await deps.messages.list(name, page)
  return pagedAnswer('messages', { items: messages.map(shown), total, more: { held } }, page)
}

const deleteMessage = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const { name } = await sites.find(deps, request)
  const id = request.params.message ?? ''
  if (!(await deps.messages.drop(name, id))) throw new Problem('NOT_FOUND', `There is no message ${id} of ${name}.`)
  return { status: 204 }
}

const message = named(
  'SiteMessage',
  object('What a visitor wrote. Nobody has checked who it was.', {
    id: text('Names the message.'),
    received_at: text('When.'),
    held: flag('It has more links than people write, so that it was mailed to nobody.'),
    mail: textOrNull('How its mail stands, as sent; null where there is none.'),
    name: text('Who, in their own words.'),
    email: text('Where an answer goes.'),
    phone: textOrNull('A phone number.'),
    message: text('Lines of text.'),
    page: text('The file of the page that the form stands on.'),
    lang: text('The language of that page.'),
  }),
)

export const messageRoutes: Route<SiteNeeds>[] = [
  {
    method: 'GET',
    path: '/api/website/:id/messages',
    summary: 'List the messages of a site',
    description: 'What visitors wrote into its contact form, newest first; kept for 30 days.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:read' },
    query: pageQuery,
    answers: {
      200: {
        description: 'One page.',
        schema: object('One page.', {
          messages: list('Newest first.', message),
          held: whole('How many of all are held.'),
          ...paging,
        }),
      },
    },
    codes: ['NOT_FOUND', 'INVALID_FIELD', 'UNKNOWN_PARAMETER'],
    handle: listMessages,
  },
  {
    method: 'DELETE',
    path: '/api/website/:id/messages/:message',
    summary: 'Delete a message of a site',
    description: 'For good; a mail that has not left does not leave any more.',
    tag: 'Websites',
    scope: { kind: 'scope', scope: 'websites:write' },
    answers: { 204: { description: 'Gone.' } },
    codes: ['NOT_FOUND'],
    handle: deleteMessage,
  },
]
