/**
 * Whether the app answers: over HTTP only, this is no browser that signs in (rules/app.md#readiness). It is
 * known of a public app whose owner says that it restricts nobody; of any other an answer proves nothing.
 */
import type { AppSpec } from '../schema.ts'
import type { AppObservation, AppWorld, DiskUse } from '../world.ts'

export type ReadinessCheck = { name: string; ok: boolean | null; detail: string }
export type ReadinessView = {
  state: 'ready' | 'not_ready' | 'unknown'
  checks: ReadinessCheck[]
  checked_at: string | null
}

const HTTP_OK_BELOW = 400

const releaseCheck = (number: number | undefined): ReadinessCheck => ({
  name: 'release',
  ok: number !== undefined,
  detail: number === undefined ? 'nothing is live yet; deploy' : `release ${number} is live`,
})

const servicesCheck = ({ running, stopped }: AppObservation): ReadinessCheck => {
  const gone = stopped.map(({ service, code }) => `${service} (exit code ${code})`)
  return {
    name: 'services',
    ok: gone.length === 0 && running.length > 0,
    detail: gone.length > 0 ? `stopped: ${gone.join(', ')}` : `running: ${running.join(', ') || 'none'}`,
  }
}

const httpCheck = ({ http }: AppObservation): ReadinessCheck => ({
  name: 'http',
  ok: http !== null && http < HTTP_OK_BELOW,
  detail: http === null ? 'no answer from the routed port' : `GET / answered ${http}`,
})

const diskCheck = ({ usedMib, budgetMib, isStopped }: DiskUse): ReadinessCheck => ({
  name: 'disk',
  ok: !isStopped,
  detail: `${isStopped ? 'stopped: it had' : 'it has'} ${usedMib} of ${budgetMib} MiB on disk`,
})

const policyCheck = ({ access, applicationPolicy }: AppSpec): ReadinessCheck => {
  const isOpen = access === 'public' && applicationPolicy === 'none'
  const detail =
    access === 'private'
      ? 'the app is private: what visitors behind the sign-in page see is not looked at'
      : `application_policy is ${applicationPolicy}${isOpen ? '' : '; declare none if the app restricts nobody'}`
  return { name: 'policy', ok: isOpen ? true : null, detail }
}

export const readinessOf = (spec: AppSpec, { releases, look, unreachable }: AppWorld): ReadinessView => {
  const live = releases.find(({ state }) => state === 'live')
  const checks = [releaseCheck(live?.number)]
  if (unreachable !== null) checks.push({ name: 'host', ok: null, detail: unreachable })
  if (live && look) checks.push(servicesCheck(look), httpCheck(look))
  if (live && look?.disk) checks.push(diskCheck(look.disk))
  checks.push(policyCheck(spec))
  const isUnseen = live !== undefined && look === null
  const state = checks.some(({ ok }) => ok === false)
    ? 'not_ready'
    : isUnseen || checks.some(({ ok }) => ok === null)
      ? 'unknown'
      : 'ready'
  return { state, checks, checked_at: look?.at ?? null }
}
