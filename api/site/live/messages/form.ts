/**
 * Takes in what visitors write into the contact form of a site: `POST /s/<token>`, from the site's own pages. No cookie and no
 * credential is looked at, so there is nothing that a foreign page could do in somebody's name. What comes neither from the live site
 * nor from the page here is shown, to be sent once more (rules/site.md#messages).
 */
import { limitOf, nextTurn } from '../../../../crds/account/quotas.ts'
import { siteEvent } from '../../../../crds/site/events.ts'
import { STAMP_MAX_MS, STAMP_MIN_MS } from '../../../../crds/site/publishing/messages/message.ts'
import { FORM_WORDS } from '../../../../crds/site/publishing/messages/words.ts'
import {
  FORM_BODY_MAX_BYTES,
  PAGE_FIELD,
  PAGE_PATH_MAX,
  type PostedForm,
  postedForm,
  type WrittenField,
  writtenFaults,
} from '../../../../crds/site/publishing/messages/written.ts'
import type { SiteSpec } from '../../../../crds/site/schema.ts'
import type { Answer, ApiRequest } from '../../../http/route.ts'
import { acceptedLang } from '../../../page/lang.ts'
import { showSheet } from '../../../page/sheet.ts'
import type { Route } from '../../../wiring/route.ts'
import type { SiteNeeds } from '../../needs.ts'
import { aboutOf, type FoundForm, findForm } from './found.ts'
import { type About, FORM_SHEET, formAnswer, type ShownForm, wordPage, writePage } from './page.ts'

const STAMP = 'site-form'
const MINUTE_MS = 60_000

/** Dead is dead, whatever it was: in the language that the browser asks for, for a site's own would tell that there is one. */
const deadAnswer = ({ headers }: ApiRequest): Answer => {
  const lang = acceptedLang(headers['accept-language'] ?? '')
  const words = FORM_WORDS[lang]
  return formAnswer(404, wordPage({ lang, company: '', back: null }, words.dead, words.deadText))
}

const closedAnswer = (about: About): Answer =>
  formAnswer(409, wordPage(about, FORM_WORDS[about.lang].closed, FORM_WORDS[about.lang].closedText))

const stampOf = ({ keys, now }: SiteNeeds, site: string): string =>
  keys
    .visitSealer(STAMP)
    .seal(Buffer.from(String(now().getTime())), site)
    .toString('base64url')

/** Whether our own page asked for it, long enough ago for a person and not too long for this site. */
const isStamped = ({ keys, now }: SiteNeeds, site: string, stamp: string): boolean => {
  try {
    const askedMs = Number(keys.visitSealer(STAMP).open(Buffer.from(stamp, 'base64url'), site).toString('utf8'))
    const ageMs = now().getTime() - askedMs
    return ageMs >= STAMP_MIN_MS && ageMs <= STAMP_MAX_MS
  } catch {
    return false
  }
}

/** Browsers say with every post where it is from; one from a preview, from elsewhere or from a program says something else. */
const isFromSite = ({ headers }: ApiRequest, url: string): boolean => headers.origin === new URL(url).origin

type Asked = { found: FoundForm; about: About & { page: string }; posted: PostedForm }
type Said = { status: number; faults?: readonly WrittenField[]; say: ShownForm['say']; retryAfterMs?: number }

/** The form with what was written, and what there is to say about it. */
const again = (deps: SiteNeeds, request: ApiRequest, { found, about, posted }: Asked, said: Said): Answer => {
  const { status, faults = [], say, retryAfterMs } = said
  const headers = retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
  const shown = { ...about, action: `/s/${request.params.token}`, written: posted.written, faults, say }
  return formAnswer(status, writePage({ ...shown, stamp: stampOf(deps, found.row.name) }), headers)
}

const sentAnswer = ({ params }: ApiRequest, page: string): Answer =>
  formAnswer(303, '', { location: `/s/${params.token}/sent?${PAGE_FIELD}=${encodeURIComponent(page)}` })

/** Kept, with its mail and its event, or refused for today. */
const keep = async (deps: SiteNeeds, request: ApiRequest, asked: Asked, url: string): Promise<Answer> => {
  const { about, posted, found } = asked
  const { row } = found
  const { view, account, name } = row
  const words = FORM_WORDS[about.lang]
  const waitMs = await deps.flood.take(request.ip)
  if (waitMs > 0) {
    const say = { tone: 'fault' as const, words: words.tooManyText(Math.ceil(waitMs / MINUTE_MS)) }
    return again(deps, request, asked, { status: 429, say, retryAfterMs: waitMs })
  }
  const profile = await deps.accounts.byKey(account)
  const now = deps.now()
  const spec = {
    account,
    metadata: view.metadata,
    ...(view.external_ref !== null && { externalRef: view.external_ref }),
  } as Pick<SiteSpec, 'account' | 'externalRef' | 'metadata'>
  const outcome = await deps.messages.receive({
    site: name,
    account,
    message: { ...posted.written, page: about.page, lang: about.lang },
    now,
    limit: profile ? limitOf('messages_per_day', profile) : 0,
    letter: { site: about.company, url },
    event: siteEvent('website.message_received', { metadata: { name }, spec }, { status: view.status, url }),
    mailHost: new URL(deps.publicUrl).hostname.replace(/[^\w.-]/g, '') || 'localhost',
  })
  if (outcome === 'kept' || outcome === 'again') return sentAnswer(request, about.page)
  const retryAfterMs = new Date(nextTurn(now)).getTime() - now.getTime()
  return again(deps, request, asked, { status: 429, say: { tone: 'fault', words: words.full }, retryAfterMs })
}

const takeIn = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await findForm(deps, request.params.token ?? '')
  if (found === null) return deadAnswer(request)
  const posted = postedForm(request.form ?? Buffer.alloc(0))
  const about = aboutOf(found, posted.page)
  const { url } = found
  const words = FORM_WORDS[about.lang]
  // whoever fills in what nobody sees is told that it went well, and learns nothing
  if (posted.isTrapped) return sentAnswer(request, about.page)
  if (url === null) return closedAnswer(about)
  const asked: Asked = { found, about, posted }
  const faults = writtenFaults(posted.written)
  if (faults.length > 0) {
    return again(deps, request, asked, { status: 400, faults, say: { tone: 'fault', words: words.fault } })
  }
  if (!isFromSite(request, url) && !isStamped(deps, found.row.name, posted.stamp)) {
    return again(deps, request, asked, { status: 200, say: { tone: 'note', words: words.once } })
  }
  return keep(deps, request, asked, url)
}

const EMPTY: PostedForm['written'] = { name: '', email: '', phone: '', message: '' }

/** For whoever reloads or comes back: the form, empty. */
const showForm = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await findForm(deps, request.params.token ?? '')
  if (found === null) return deadAnswer(request)
  const about = aboutOf(found, request.query[PAGE_FIELD] ?? '')
  if (found.url === null) return closedAnswer(about)
  const posted = { written: EMPTY, page: about.page, stamp: '', isTrapped: false }
  return again(deps, request, { found, about, posted }, { status: 200, say: null })
}

const showSent = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await findForm(deps, request.params.token ?? '')
  if (found === null) return deadAnswer(request)
  const about = aboutOf(found, request.query[PAGE_FIELD] ?? '')
  const words = FORM_WORDS[about.lang]
  return formAnswer(200, wordPage(about, words.sent, words.sentText(about.company)))
}

const open = { hidden: true, scope: { kind: 'public' } } as const
const from = {
  [PAGE_FIELD]: { type: 'string' as const, description: 'The page of the site.', maxLength: PAGE_PATH_MAX },
}

export const formRoutes: Route<SiteNeeds>[] = [
  {
    ...open,
    scope: { kind: 'public', limit: 'file' },
    method: 'GET',
    path: FORM_SHEET.path,
    summary: 'Style of the pages of contact forms',
    handle: showSheet(FORM_SHEET),
  },
  {
    ...open,
    method: 'POST',
    path: '/s/:token',
    summary: 'Write to a site',
    observes: true,
    bodyMaxBytes: FORM_BODY_MAX_BYTES,
    handle: takeIn,
  },
  { ...open, method: 'GET', path: '/s/:token', summary: 'The contact form of a site', query: from, handle: showForm },
  {
    ...open,
    method: 'GET',
    path: '/s/:token/sent',
    summary: 'What was written is on its way',
    query: from,
    handle: showSent,
  },
]
