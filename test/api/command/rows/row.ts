/** What the table test knows of a route: how it is called, how it ends, and what it refuses. */
import type { ProblemCode } from '../../../../crds/kernel/problem.ts'
import type { Json, Platform, Reply } from '../../../support/stage/invoicing.ts'

/** One call, whose resource was made while the controllers ran. `by`: a token. */
export type TableCall = { path: string; body?: unknown; headers?: Record<string, string>; by: string }

/** Why there is no such cell. */
export type Never = { never: string }

/** @param tag no other cell has it: letters and digits, for names and references */
export type Prepare = (tag: string) => Promise<TableCall>

export type Waits = {
  /** Of the resource at which its operation points. */
  kind: 'inv' | 'wsite' | 'bapp' | 'dbx' | 'bhost' | 'acct'
  prepare: Prepare
  /** Of the answer that stands there in the end; `pending` where that takes a host, and the one there is is away. */
  status: number | 'pending'
  /** How it ends when the resource is deleted before anybody looks. */
  gone: 'unknown' | 'succeeded' | Never
}

export type TableRow = { waits: Waits | Never; refused: { code: ProblemCode; prepare: Prepare } | Never }
export type TableRows = Record<string, TableRow>

/** What the rows are made on. */
export type TableStage = {
  platform: Platform
  /** Of accounts: one with apps, sites and invoices, a reviewer, one with dev instances, and an administrator. */
  owner: string
  reviewer: string
  boxer: string
  admin: string
  ask(by: string | null, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** The same of a call that must be decided at once. */
  sure(by: string, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Json>
  end(): Promise<void>
}

export const isNever = (cell: object | string): cell is Never => typeof cell === 'object' && 'never' in cell

/** A host that nobody reaches, which takes apps and sites. */
export const AWAY = 'away'
