import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, spec } from '../../../support/runner/spec.ts'

/**
 * NOTIFY takes a lock on the whole instance at commit: inside a ledger transaction it makes numbering five times slower
 * (rules/platform.md#notifications). Only the mirror's own functions may notify, and they touch no ledger table.
 */
const root = join(import.meta.dirname, '..', '..', '..', '..')
const read = (pattern: string) => globSync(pattern, { cwd: root }).map((file) => ({ file, text: bare(file) }))
const bare = (file: string) => readFileSync(join(root, file), 'utf8').replaceAll(/--.*$/gm, '').toLowerCase()

const NOTIFIES = /\bnotify\b|\bpg_notify\b|\btell_mirror\b/
const LEDGER_TABLES = /\b(from|into|update|join)\s+(series|register|facts|blobs|blob_chunks|sends|outbox|epochs)\b/
const LEDGER_FUNCTIONS =
  /\b(claim_numbers|freeze_sends|freeze_invoices|put_blobs|append_facts|decide_facts|turn_outbox)\b/

/** Each `create …` of a migration with all that belongs to it. */
const statements = (sql: string): string[] => sql.split(/^(?=create |alter |drop |select |insert |do )/m)

spec('no NOTIFY inside a ledger transaction', (t) => {
  t('only functions of the mirror notify, and no such function touches a ledger table', () => {
    const files = read('{controllers,api}/**/*.sql')
    assert.ok(files.length > 0)
    const notifying = files.flatMap(({ file, text }) =>
      statements(text)
        .filter((statement) => NOTIFIES.test(statement))
        .map((statement) => ({ file, statement })),
    )
    assert.ok(notifying.length > 0)
    for (const { file, statement } of notifying) {
      const name = /create (?:or replace )?function (\w+)/.exec(statement)?.[1] ?? statement.slice(0, 60)
      // A token is changed by its owner, the clock by a developer, a ping is asked for, the API server away, now and then; no ledger row is written with any.
      assert.match(name, /_mirror$|^tell_(token|herald|wake)$|_dev_clock$/, `${file}: ${name} notifies`)
      assert.not.match(statement, LEDGER_TABLES, `${file}: ${name} notifies and touches the ledger`)
      assert.not.match(statement, LEDGER_FUNCTIONS, `${file}: ${name} notifies and touches the ledger`)
    }
  })

  t('no TypeScript sends a NOTIFY of its own', () => {
    const files = read('{controllers,api,crds}/**/*.ts')
    assert.ok(files.length > 10)
    for (const { file, text } of files) assert.not.match(text, /\bpg_notify\b|['"`]\s*notify\b/, `${file} notifies`)
  })
})
