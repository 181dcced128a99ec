import type { Episode } from '../../../../crds/app/lifecycle/health/seen.ts'

/** A container of the first release was stopped, and nothing was tried yet. */
export const anEpisode = (change: Partial<Episode> = {}): Episode => ({
  n: 1,
  release: 1,
  code: 'SERVICE_STOPPED',
  service: 'web',
  exitCode: 137,
  detail: 'web is exited, exit code 137',
  log: null,
  beganAt: '2026-11-22T10:00:00.000Z',
  attempts: 0,
  attemptedAt: null,
  ...change,
})
