/** Visits to the client's page: the password that opens it, and that its client looked at it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { KubeError } from '../../../controllers/base/errors.ts'
import { viewKey } from '../../../crds/invoice/facts/visits.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { setCookie } from '../../auth/cookie.ts'
import { isOwn } from '../../command/own.ts'
import { append } from '../../command/report.ts'
import { Problem } from '../../http/problem.ts'
import { fieldsOf } from '../../http/reading/form.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { PageNeeds } from '../needs.ts'
import type { FoundInvoice } from './found.ts'
import { callerOf, findPage, isOpen, LOOKS, PAGE_COOKIE, pageHtml, refuseVisitor } from './show.ts'
import { isLang } from './words.ts'

const SESSION_MS = 12 * 60 * 60 * 1000
/** How long a wrong password waits for its answer. */
const WRONG_MS = 250

/** The seller's own look, or that of whoever runs the platform, says nothing of the client. */
const isOwnVisitor = async (deps: PageNeeds, request: ApiRequest, { row }: FoundInvoice): Promise<boolean> => {
  const caller = await callerOf(deps, request).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'UNAUTHENTICATED') return null
    throw error
  })
  return caller !== null && (isOwn(row, caller) || caller.profile.role !== 'member')
}

/**
 * Records the first look at each send; later ones change nothing. Where the control plane cannot be woken, the fact stands
 * and is decided on by the next pass: nobody is kept from the page by it.
 */
export const recordView = async (deps: PageNeeds, request: ApiRequest, found: FoundInvoice): Promise<void> => {
  const { name, n, facts, row } = found
  const key = viewKey(n)
  if (row.archived || facts.some((fact) => fact.key === key)) return
  if (row.view.stalled?.code === 'LEDGER_BEHIND') return
  if (await isOwnVisitor(deps, request, found)) return
  const fact = { key, kind: 'view', body: { n } }
  await append(deps, { kind: INVOICE, name, fact }).catch((error: unknown) => {
    const isGone = error instanceof Problem && error.code === 'NOT_FOUND'
    if (!isGone && !(error instanceof KubeError)) throw error
  })
}

/** The password. Tries are counted before they are looked at, and a right one is a first look. */
export const enterPage = async (deps: PageNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await findPage(deps, request)
  const { name, gate, n, path, links } = found
  if (gate === 'account') return refuseVisitor(request, found, { status: 401 })
  const { waitMs, right } = await deps.attempts.begin({ ip: request.ip, target: `page:${name}` })
  if (waitMs > 0) {
    const headers = { 'retry-after': String(Math.ceil(waitMs / 1000)) }
    return refuseVisitor(request, found, { status: 429, tooMany: true, headers })
  }
  const given = fieldsOf(request.form).get('password') ?? ''
  if (!deps.keys.passwordOpens(given.trim(), { name, n, password: links.password })) {
    await sleep(WRONG_MS)
    return refuseVisitor(request, found, { status: 403, wrong: true })
  }
  await right()
  await recordView(deps, request, found)
  const session = deps.keys.pageSession({ name, n, ...links }, deps.now().getTime() + SESSION_MS)
  const cookie = setCookie(PAGE_COOKIE, session, { path, maxAgeMs: SESSION_MS, publicUrl: deps.publicUrl })
  const location = isLang(request.query.lang) ? `${path}?lang=${request.query.lang}` : path
  return pageHtml(303, '', { location, 'set-cookie': cookie })
}

/** What the script of the page posts. Says nothing to whoever is not past the gate. */
export const sawPage = async (deps: PageNeeds, request: ApiRequest): Promise<Answer> => {
  const found = await findPage(deps, request)
  if (await isOpen(deps, request, found, LOOKS)) await recordView(deps, request, found)
  return pageHtml(204, '')
}
