/** A plan of reconciliation as people read it, and as JSON. */
import { formatSeq, type SeriesEntry, type SeriesPlan } from '../../../crds/invoice/planning/recovery/series.ts'
import type { NotMade } from '../lost/rebuild.ts'
import { isIdle, keyOf, type ReconcilePlan } from './plan.ts'

const NAMES_SHOWN = 20

export type ReconcileSummary = {
  agree: boolean
  disagreements: { code: string; what: string }[]
  /** What --apply does, in its order. */
  steps: string[]
  /** Why --apply does nothing; empty where it does. */
  blocked: string[]
  /** What only a person can decide, or has to tell somebody. */
  decide: string[]
  series: { id: string; restored: string[]; lost: string[]; next: string }[]
  resources: { name: string; number: string; does: string[] }[]
  absent: { kind: string; name: string }[]
  /** Taken for deleted while nobody looked. */
  forgotten: { kind: string; name: string }[]
  /** What --apply sets aside, until an administrator releases it. */
  aside: Record<string, number>
  epoch: { database: number; lease: number }
}

const numbersOf = (entries: readonly SeriesEntry[], word: SeriesEntry['entry']): string[] =>
  entries.filter(({ entry }) => entry === word).map(formatSeq)

const shortened = (all: readonly string[]): string =>
  all.length <= NAMES_SHOWN
    ? all.join(', ')
    : `${all.slice(0, NAMES_SHOWN).join(', ')} and ${all.length - NAMES_SHOWN} more`

const seriesSteps = ({ id, entries }: SeriesPlan): string[] => {
  const [restored, lost] = [numbersOf(entries, 'restored'), numbersOf(entries, 'lost')]
  return [
    ...(restored.length > 0
      ? [`register ${id}: give back ${shortened(restored)} to the resources that have them`]
      : []),
    ...(lost.length > 0 ? [`register ${id}: set aside ${shortened(lost)} as lost, never to be given again`] : []),
  ]
}

const recountSteps = ({ recounts }: ReconcilePlan): string[] =>
  recounts.map(
    (one) => `register ${one.id}: count what it has, up to ${formatSeq({ prefix: one.prefix, seq: one.last })}`,
  )

const namesOf = (all: readonly { kind: string; name: string }[]): string => shortened(all.map(keyOf))

const absentSteps = ({ absence, rebuild }: ReconcilePlan): string[] => {
  if (rebuild === null) return []
  const made = rebuild.stages.flat()
  const back = new Set(made.map(keyOf))
  const lost = absence.absent.filter((one) => !back.has(keyOf(one)))
  return [
    ...(made.length > 0
      ? [`make ${made.length} resources again, as they were asked for last, each known by its rows: ${namesOf(made)}`]
      : []),
    ...(lost.length > 0
      ? [`take ${lost.length} resources for lost, and keep their views and keys: ${namesOf(lost)}`]
      : []),
  ]
}

const WAITING_WORDS = { mail: 'mails', event: 'events', delivery: 'deliveries to endpoints', card: 'calls' } as const

const asideSteps = ({ waiting }: ReconcilePlan): string[] => {
  if (waiting.length === 0) return []
  const counted = waiting.map(({ source, count }) => `${count} ${WAITING_WORDS[source]}`).join(', ')
  return [`set aside what waits to be sent, for it may have gone out since: ${counted}`]
}

const stepsOf = (plan: ReconcilePlan): string[] => {
  const { sight, wrongs, series, restorations } = plan
  const { here, marks, kept } = sight
  if (isIdle(plan)) return []
  const isStranger = wrongs.some(({ code }) => code === 'CLUSTER_UNKNOWN')
  const top = Math.max(marks.epoch, kept?.epoch ?? 0)
  return [
    ...(kept === null ? [`take the empty database for that of installation ${marks.installation}`] : []),
    ...recountSteps(plan),
    ...series.flatMap(seriesSteps),
    ...restorations.map(({ name, does }) => `${name}: ${does.join('; ')}`),
    ...asideSteps(plan),
    ...absentSteps(plan),
    ...(isStranger ? [`accept cluster ${here.clusterUid}, namespace ${here.namespace}, as that of this database`] : []),
    `raise the epoch above ${top}, in the database and on the Lease; a host that knows a higher one raises it further`,
  ]
}

const forgottenWords = ({ forgotten }: ReconcilePlan): string[] =>
  forgotten.length === 0
    ? []
    : [
        `${forgotten.length} resources were taken for deleted, for they were not there when somebody began to lead: have each that was not with --restore KIND/NAME, within 30 days: ${namesOf(forgotten)}`,
      ]

const decideOf = (plan: ReconcilePlan): string[] => {
  const { wrongs, series, restorations, waiting } = plan
  if (!wrongs.some(({ code }) => code === 'LEDGER_BEHIND')) return forgottenWords(plan)
  const lost = series.flatMap(({ entries }) => numbersOf(entries, 'lost'))
  const drawn = restorations
    .filter(({ does }) => does.some((one) => one.startsWith('its document')))
    .map(({ number }) => number)
  const ends = series.map(({ id, last, entries }) => `${id} (known up to ${entries.at(-1)?.seq ?? last})`)
  return [
    ...(lost.length > 0
      ? [`find out who has ${shortened(lost)}: nothing is known of them but that they were given`]
      : []),
    ...(drawn.length > 0
      ? [
          `tell the clients of ${shortened(drawn)} that their document may look different: it is drawn anew, under its number`,
        ]
      : []),
    `numbers may have been mailed that are known nowhere, because their resource is gone too: look through the mail that was sent, and set them aside with --reserve SERIES=LAST${ends.length > 0 ? `, here ${ends.join(', ')}` : ''}`,
    ...(waiting.length > 0
      ? [
          'compare what is set aside with what was sent (GET /api/admin/quarantine), and release what did not go out (POST /api/admin/quarantine/ID/release)',
        ]
      : []),
    'what fell due between the copy and now, reminders as an example, is not made up for; payments, views and claims of since then are on record only as far as a status says them',
  ]
}

/** Of the plan, whole. */
export const summaryOf = (plan: ReconcilePlan): ReconcileSummary => ({
  agree: plan.wrongs.length === 0,
  disagreements: plan.wrongs.map(({ code, what }) => ({ code, what })),
  steps: stepsOf(plan),
  blocked: plan.blocked,
  decide: decideOf(plan),
  series: plan.series.map(({ id, prefix, last, entries }) => ({
    id,
    restored: numbersOf(entries, 'restored'),
    lost: numbersOf(entries, 'lost'),
    next: formatSeq({ prefix: entries.at(-1)?.prefix ?? prefix, seq: (entries.at(-1)?.seq ?? last) + 1 }),
  })),
  resources: plan.restorations.map(({ name, number, does }) => ({ name, number, does })),
  absent: plan.absence.absent,
  forgotten: plan.forgotten.map(({ kind, name }) => ({ kind, name })),
  aside: Object.fromEntries(plan.waiting.map(({ source, count }) => [source, count])),
  epoch: { database: plan.sight.kept?.epoch ?? 0, lease: plan.sight.marks.epoch },
})

const listed = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((one) => `  - ${one}`)]

/** For a terminal. */
export const wordsOf = (summary: ReconcileSummary): string => {
  const { agree, disagreements, steps, blocked, decide } = summary
  const head = agree ? ['Database, cluster and key agree.'] : disagreements.map(({ code, what }) => `${code}: ${what}`)
  const none = steps.length === 0 ? ['There is nothing to do.'] : []
  return [
    ...head,
    ...none,
    ...listed('To be done first, by a person; until then --apply changes nothing:', blocked),
    ...listed('--apply would:', steps),
    ...listed('For a person to decide, or to tell:', decide),
  ].join('\n')
}

/** What was done, and what the cluster refused: that stays lost, with its view and its keys, until a person makes it. */
export const doneWords = (summary: ReconcileSummary, refused: readonly NotMade[]): string =>
  [
    wordsOf(summary).replace('--apply would:', 'Done:'),
    ...(refused.length > 0
      ? [
          `Not made again, because the cluster refused it:\n${refused.map((one) => `  - ${keyOf(one)}: ${one.detail}`).join('\n')}`,
        ]
      : []),
    'The controllers lead within seconds.',
  ].join('\n\n')
