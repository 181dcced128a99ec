/**
 * Whether the app answers: over HTTP only, this is no browser that signs in (rules/app.md#readiness). It is
 * known of a public app whose owner says that it restricts nobody; of any other an answer proves nothing.
 */
import type { AppSpec } from '../schema.ts'
import type { AppObservation, AppWorld, DiskUse } from '../world.ts'
import type { ReachedName } from './publishing/naming.ts'
import { isWell, probeOf } from './publishing/probe.ts'
import { urlOf } from './publishing/url.ts'

/** `at`: when it was looked at, ISO; null for what is no look. */
export type ReadinessCheck = { name: string; ok: boolean | null; detail: string; at: string | null }
export type ReadinessView = {
  state: 'ready' | 'not_ready' | 'unknown'
  checks: ReadinessCheck[]
  checked_at: string | null
}

const releaseCheck = (number: number | undefined): ReadinessCheck => ({
  name: 'release',
  ok: number !== undefined,
  detail: number === undefined ? 'nothing is live yet; deploy' : `release ${number} is live`,
  at: null,
})

const servicesCheck = ({ running, stopped, at }: AppObservation): ReadinessCheck => {
  const gone = stopped.map(({ service, code }) => `${service} (exit code ${code})`)
  return {
    name: 'services',
    ok: gone.length === 0 && running.length > 0,
    detail: gone.length > 0 ? `stopped: ${gone.join(', ')}` : `running: ${running.join(', ') || 'none'}`,
    at,
  }
}

const wanted = (spec: AppSpec): string => probeOf(spec).status.join(', ')

const httpCheck = (spec: AppSpec, { http, at }: AppObservation): ReadinessCheck => {
  const probe = probeOf(spec)
  const ok = http !== null && isWell(probe, http)
  const detail = http === null ? 'no answer from the routed port' : `GET ${probe.path} answered ${http}`
  return { name: 'http', ok, detail: ok || http === null ? detail : `${detail}; ${wanted(spec)} is well`, at }
}

const CERTIFICATES: Record<NonNullable<ReachedName['certificate']>, string> = {
  valid: 'is good',
  expiring: 'is about to run out, and was not renewed',
  expired: 'has run out',
  mismatch: 'is for another name',
  missing: 'is not there',
}

const certificateCheck = ({ hostname, certificate, notAfter }: ReachedName, at: string): ReadinessCheck => {
  const name = `certificate:${hostname}`
  if (certificate === null) return { name, ok: null, detail: `the answer of ${hostname} is waited for`, at: null }
  const until = notAfter === null ? '' : `, until ${notAfter}`
  const ok = certificate === 'valid' || certificate === 'expiring'
  return { name, ok, detail: `the certificate of ${hostname} ${CERTIFICATES[certificate]}${until}`, at }
}

/** By the public address, through the proxy. What a private app answers there is its page to sign in. */
const publicCheck = (spec: AppSpec, { hostname, status, detail }: ReachedName, at: string): ReadinessCheck => {
  const probe = probeOf(spec)
  const name = `public:${hostname}`
  const asked = `GET https://${hostname}${probe.path}`
  if (status === null) return { name, ok: false, detail: `${asked} was not answered: ${detail}`, at }
  const ok = spec.access === 'private' ? status < 500 : isWell(probe, status)
  return { name, ok, detail: `${asked} answered ${status}`, at }
}

const reachChecks = (spec: AppSpec, { reach }: AppWorld): ReadinessCheck[] =>
  (reach?.names ?? []).flatMap((one) => {
    const at = reach?.at ?? ''
    const isSecured = one.certificate === 'valid' || one.certificate === 'expiring'
    return [certificateCheck(one, at), ...(isSecured ? [publicCheck(spec, one, at)] : [])]
  })

const diskCheck = ({ usedMib, budgetMib, isStopped }: DiskUse, at: string): ReadinessCheck => ({
  name: 'disk',
  ok: !isStopped,
  detail: `${isStopped ? 'stopped: it had' : 'it has'} ${usedMib} of ${budgetMib} MiB on disk`,
  at,
})

const policyCheck = ({ access, applicationPolicy }: AppSpec): ReadinessCheck => {
  const isOpen = access === 'public' && applicationPolicy === 'none'
  const detail =
    access === 'private'
      ? 'the app is private: what visitors behind the sign-in page see is not looked at'
      : `application_policy is ${applicationPolicy}${isOpen ? '' : '; declare none if the app restricts nobody'}`
  return { name: 'policy', ok: isOpen ? true : null, detail, at: null }
}

export const readinessOf = (spec: AppSpec, world: AppWorld): ReadinessView => {
  const { releases, look, unreachable } = world
  const live = releases.find(({ state }) => state === 'live')
  const checks = [releaseCheck(live?.number)]
  if (unreachable !== null) checks.push({ name: 'host', ok: null, detail: unreachable, at: null })
  if (live && look) checks.push(servicesCheck(look), httpCheck(spec, look))
  if (live && urlOf(spec, world.host) !== null) checks.push(...reachChecks(spec, world))
  if (live && look?.disk) checks.push(diskCheck(look.disk, look.at))
  checks.push(policyCheck(spec))
  const isUnseen = live !== undefined && look === null
  const state = checks.some(({ ok }) => ok === false)
    ? 'not_ready'
    : isUnseen || checks.some(({ ok }) => ok === null)
      ? 'unknown'
      : 'ready'
  return { state, checks, checked_at: look?.at ?? null }
}
