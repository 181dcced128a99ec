/** The life of a dev instance as a page: the table of transitions with its diagram, its rules and its codes. */
import { BREACHES } from '../../crds/devinstance/life/breaches.ts'
import { codesOf } from '../../crds/devinstance/life/codes.ts'
import type { LifeRule } from '../../crds/devinstance/life/context.ts'
import { RESERVATION_RULES } from '../../crds/devinstance/life/guards.ts'
import { type Row, SAYINGS } from '../../crds/devinstance/life/table.ts'
import { TRANSITIONS, TRIGGERS } from '../../crds/devinstance/life/transitions.ts'
import { PROBLEMS } from '../../crds/kernel/problem.ts'

export const LIFE_PATH = 'hack/docs/devinstance-life.md'

const HEAD = `# The life of a dev instance

Made by hack/generate from crds/devinstance/life; edit that.

What has happened is on record whatever rule it breaks; what is asked may be refused (rules/devinstance.md#reports-and-requests).
A rule stands in one of three columns: it *refuses* what is asked, and nothing is kept; it *answers* with its code, and the report is
on record as a condition; or the report goes on, and the broken rule is a *condition*. Of a report nothing refuses. *deleted* is a tombstone.
`

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const codes = (rules: readonly LifeRule[] = []): string => [...new Set(rules.map(({ code }) => code))].join(', ')

const toOf = ({ to }: Row): string => (to === 'same' ? 'stays' : to === 'said' ? 'as it says' : to)

/** Where a report says itself what is next. The last part of a machine that is gone may be its address. */
const endsOf = ({ on, to }: Row, from: string): readonly string[] => {
  if (to !== 'said') return [to]
  if (on === 'resized') return ['ready', 'running', 'stopped']
  if (on === 'terminated') return from === 'reserved' ? ['terminated'] : ['stopped', 'terminated']
  return from === 'stopped' ? ['terminated'] : []
}

const diagram = (): string => {
  const arrows = TRANSITIONS.filter(({ to, late }) => to !== 'same' && !late).flatMap((row) =>
    row.from.flatMap((state) =>
      endsOf(row, state)
        .filter((end) => end !== state)
        .map((end) => `  ${state} --> ${end}: ${row.on}`),
    ),
  )
  const lines = ['stateDiagram-v2', '  [*] --> reserved: reserve', ...new Set(arrows)]
  const ended = ['  reserved --> [*]: lapse or delete', '  terminated --> [*]: delete']
  return ['```mermaid', ...lines, ...ended, '```'].join('\n')
}

const transitions = (): string =>
  tableOf(
    ['Trigger', 'By', 'From', 'To', 'Refuses', 'Answers, on record', 'Condition', 'Version'],
    [
      ['reserve', 'owner', 'none', 'reserved', codes(RESERVATION_RULES), '', '', 'is 1'],
      ...TRIGGERS.flatMap((trigger) =>
        TRANSITIONS.filter(({ on }) => on === trigger).map((row) => [
          trigger,
          SAYINGS[trigger].by,
          row.from.join(', '),
          toOf(row),
          codes(row.guards),
          codes(row.records),
          codes(row.conditions),
          row.bumps ? 'rises' : 'stays',
        ]),
      ),
    ],
  )

const asked = (): string =>
  tableOf(
    ['Trigger', 'Is', 'Said by', 'May be answered with'],
    TRIGGERS.map((trigger) => [trigger, `a ${SAYINGS[trigger].is}`, SAYINGS[trigger].by, codesOf(trigger).join(', ')]),
  )

const rules = (): string => {
  const all = [
    ...RESERVATION_RULES,
    ...TRANSITIONS.flatMap(({ guards, records = [], conditions = [] }) => [...guards, ...records, ...conditions]),
  ]
  const lines = all.map(({ code, rule, reason, actor }) => [code, rule, reason, actor].join(' | '))
  const rows = [...new Set(lines)].sort().map((line) => line.split(' | '))
  return tableOf(['Code', 'What must hold', 'Why', 'Who can mend it'], rows)
}

const conditions = (): string =>
  tableOf(
    ['Condition', 'Code', 'Next step', 'Ended by'],
    BREACHES.map(({ code, on, condition, next, endedBy }) => [
      condition,
      on === undefined ? code : `${code} of ${on}`,
      next,
      endedBy.join(', ') || 'nothing',
    ]),
  )

const problems = (): string => {
  const used = new Set(TRIGGERS.flatMap(codesOf))
  return tableOf(
    ['Code', 'Status', 'Next step'],
    [...used].sort().map((code) => [code, String(PROBLEMS[code].status), PROBLEMS[code].next]),
  )
}

/** The page's text. */
export const lifeText = (): string =>
  [
    HEAD,
    `## States\n\n${diagram()}`,
    `\n## Transitions\n\n${transitions()}`,
    `\n## Rules\n\n${rules()}`,
    `\n## Conditions of what has happened\n\n${conditions()}`,
    `\n## What may be answered\n\n${asked()}`,
    `\n## Codes\n\n${problems()}`,
    '',
  ].join('\n')
