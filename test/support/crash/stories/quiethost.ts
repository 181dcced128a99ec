import type { AroundHost } from '../../../../controllers/io/hosts/link.ts'
import { GUARD_DIGEST } from '../../../../controllers/kinds/host/guard.ts'
import type { Findings } from '../../../../crds/host/inspect.ts'
import { withOurs } from '../../../../crds/host/proxy.ts'
import type { ProxySettings } from '../../../../crds/host/schema.ts'

/**
 * A host that is well, serves nothing and lets anybody in: the answers that a real one gave (test/hosts/host), for stories in
 * which it is only looked at. Any other call is a fault of the story.
 */

const FINDINGS: Findings = {
  arch: 'x86_64',
  versions: { kernel: '6.12.0', docker: '29.1.3', compose: '2.40.3', caddy: '2.11.5' },
  disk: { totalGib: 200, freeGib: 100 },
  processors: 4,
  memoryMib: 8_192,
  missing: [],
  siteRootOk: true,
  proxyFault: '',
  guard: { says: 'ok 0', digest: GUARD_DIGEST },
  users: 'remapped',
  restart: { livesOn: true, hasLinks: true },
}

/** @param settings of the host's proxy, which serves what it should: nothing */
export const answersOf = (settings: ProxySettings): Record<string, unknown> => ({
  'ssh inspect': { reach: 'ok', findings: FINDINGS },
  'admin GET /config/': { status: 200, etag: '', text: JSON.stringify(withOurs({}, settings, [])) },
})

/** @param around the life that counts the calls */
export const quietHost =
  (around: AroundHost, answers: Record<string, unknown>): AroundHost =>
  <R>(call: { name: string }) =>
    around(call, async () => {
      const answer = answers[call.name]
      if (answer === undefined) throw new Error(`nothing is recorded for ${call.name}`)
      return answer as R
    })
