/** The times in which an app was not as it is to be, in the names of REST (rules/app.md#health). */
import { named } from '../../../kernel/named.ts'
import type { JsonSchema } from '../../../kernel/rest.ts'
import { type Episode, HEALTH_CODES } from './seen.ts'

/** One that lasts, or that is over. */
export type PastEpisode = Episode & { endedAt: string | null }

export type EpisodeView = {
  number: number
  release: number
  code: string
  service: string | null
  exit_code: number | null
  detail: string
  log_tail: string | null
  began_at: string
  ended_at: string | null
  attempts: number
  attempted_at: string | null
}

export const viewEpisode = (episode: PastEpisode): EpisodeView => ({
  number: episode.n,
  release: episode.release,
  code: episode.code,
  service: episode.service,
  exit_code: episode.exitCode,
  detail: episode.detail,
  log_tail: episode.log,
  began_at: episode.beganAt,
  ended_at: episode.endedAt,
  attempts: episode.attempts,
  attempted_at: episode.attemptedAt,
})

const text = (description: string): JsonSchema => ({ type: 'string', description })
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
const whole = (description: string): JsonSchema => ({ type: 'integer', description })

export const episodeAnswer = named('AppEpisode', {
  type: 'object',
  description: 'A time in which something of an app was not as it is to be.',
  properties: {
    number: whole('Counts per app, from 1.'),
    release: whole('Which release ran then.'),
    code: { ...text('What it was.'), enum: [...HEALTH_CODES] },
    service: textOrNull('Of which service; null for the app as a whole.'),
    exit_code: { type: ['integer', 'null'], description: 'What its container ended with.' },
    detail: text('A sentence.'),
    log_tail: textOrNull('The last lines of its container then; values of the env are blackened.'),
    began_at: text('When it was first seen.'),
    ended_at: textOrNull('When all was well again; null while it lasts.'),
    attempts: whole('How often it was tried to put it right.'),
    attempted_at: textOrNull('When it was tried last.'),
  },
})
