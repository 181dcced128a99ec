/** What is stored, looked up in the database and the cluster by ways of the test's own. */
import { readFileSync } from 'node:fs'
import { HARMLESS, WRITERS } from '../../../../api/command/written.ts'
import { KINDS } from '../../../../crds/kinds.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { type FaultProxy, startFaultProxy } from '../../../support/doubles/faultproxy.ts'
import type { Platform } from '../../../support/stage/invoicing.ts'
import { sharedKubeconfig } from '../../../support/stage/stage.ts'

/** What guards a request or is laid ready for a desire, and lapses by itself: nobody who repeats it finds it twice. */
const LAPSING: readonly string[] = [
  ...['idempotency', 'operations', 'attempts', 'audit', 'audit_heads', 'sessions', 'session_keys', 'tokens'],
  ...['blobs', 'blob_chunks', 'send_slots', 'send_days', 'ai_places', 'site_places', 'publish_places', 'app_slugs'],
  // an apply takes its plan under an id that follows from its key, and what repeats it has it
  'app_plans',
  ...[
    'site_names',
    'site_name_facts',
    'event_heads',
    'app_revisions',
    'app_sources',
    'app_uploads',
    'app_passwords',
    'app_log_requests',
    'app_log_chunks',
    'epochs',
    'installation',
  ],
]
const GUARDING = /^(append_audit|reserve_key|tell_wake|reckon_anew|origins_of|show_mirror|lapse_app_logs)$/
const CALLS = /\b(\w+)\(/g
const CHANGES = /^\s*(?:insert into|update|delete from)\s+(\w+)/i

/** A statement that changes what a request is about, or takes a place for it. */
export const isEffect = (text: string): boolean => {
  const calls = [...text.matchAll(CALLS)].map(([, name = '']) => name)
  if (calls.some((name) => [...WRITERS, ...HARMLESS].includes(name) && !GUARDING.test(name))) return true
  const [, table = ''] = CHANGES.exec(text) ?? []
  return table !== '' && !/^(idempotency|operations|attempts|tokens|sessions)$/.test(table)
}

/** A statement whose effect is what was asked for. */
export const isStoring = (text: string): boolean => {
  const calls = [...text.matchAll(CALLS)].map(([, name = '']) => name)
  if (calls.some((name) => WRITERS.includes(name) || name === 'report_facts')) return true
  const [, table = ''] = CHANGES.exec(text) ?? []
  return table !== '' && isEffect(text) && !LAPSING.includes(table)
}

type Stored = ReadonlySet<string>
export type Truth = {
  /** @returns what has come, gone or become another since it was asked last: rows and resources, as text */
  changes(): Promise<string[]>
  end(): Promise<void>
}

const readTables = async (url: string): Promise<string[]> => {
  const tables = await query(url, "select tablename::text as name from pg_tables where schemaname = 'public'")
  const names = tables.map(({ name }) => `${name}`).filter((name) => !LAPSING.includes(name))
  const each = names.map((name) => `select '${name} ' || t::text as line from ${name} t`)
  return (await query(url, each.join(' union all '))).map(({ line }) => `${line}`)
}

type Item = { metadata: { name: string; uid: string; generation?: number; deletionTimestamp?: string } }

const readKind = async (base: string, { kind, plural }: { kind: string; plural: string }): Promise<string[]> => {
  const response = await fetch(`${base}/${plural}`, {
    headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
  })
  const { items } = (await response.json()) as { items: Item[] | null }
  return (items ?? []).map(
    ({ metadata: { name, uid, generation, deletionTimestamp } }) =>
      `${kind}/${name} ${uid} ${generation} ${deletionTimestamp ?? ''}`,
  )
}

export const startTruth = async ({ database, namespace }: Platform): Promise<Truth> => {
  const door: FaultProxy = await startFaultProxy(sharedKubeconfig())
  const { clusters } = JSON.parse(readFileSync(door.kubeconfig, 'utf8'))
  const base = `${clusters[0].cluster.server}/apis/bottega.dev/v1alpha1/namespaces/${namespace.name}`
  let before: Stored = new Set()
  const look = async (): Promise<Stored> => {
    const found = await Promise.all([readTables(database.url), ...KINDS.map((kind) => readKind(base, kind))])
    return new Set(found.flat())
  }
  return {
    async changes() {
      const now = await look()
      const changed = [...before, ...now].filter((line) => before.has(line) !== now.has(line))
      before = now
      return changed
    },
    end: () => door.close(),
  }
}
