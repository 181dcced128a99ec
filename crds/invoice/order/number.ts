/** Series and numbers: `<PREFIX>-<YYY>-<NNNN>` (rules/invoice.md#numbering). */
import assert from 'node:assert/strict'
import { dayIn } from '../../values/calendar.ts'

export const TEST_PREFIX = 'TEST'
/** Credit notes have registers of their own, told apart by this (rules/invoice.md#series). */
export const CREDIT_PREFIX = 'CN'
/** At least. */
export const SEQ_DIGITS = 4
const YEAR_DIGITS = 3
const YEAR_MODULO = 1000

/** A register of numbers 1..n. `year` is the full year of the day of issue; each year is a series of its own. */
export type Series = { id: string; prefix: string; year: number }

type SeriesInput = {
  account: string
  issuerId: string
  prefix: string
  test: boolean
  kind: 'invoice' | 'credit_note'
  /** YYYY-MM-DD in the issuer's zone. */
  issuedOn: string
}

/**
 * The series an invoice is numbered in: one per issuer and year; test invoices share one per account and year. The id
 * does not name the prefix; a series that has begun keeps its own (controllers/store/sql/functions/claim_numbers.sql).
 * No issuer is called TEST (ids are lower case).
 */
export const seriesOf = ({ account, issuerId, prefix, test, kind, issuedOn }: SeriesInput): Series => {
  const year = Number(issuedOn.slice(0, 4))
  assert(Number.isInteger(year) && year > 0, `a day of issue has a year: ${issuedOn}`)
  const register = test ? TEST_PREFIX : issuerId
  const id = `${account}/${register}/${kind}/${year}`
  if (kind === 'invoice') return { id, prefix: test ? TEST_PREFIX : prefix, year }
  return { id, prefix: test ? `${TEST_PREFIX}-${CREDIT_PREFIX}` : `${CREDIT_PREFIX}${prefix}`, year }
}

/** `'INV', 2026, 1` → `INV-026-0001`; the last part widens past 9999. */
export const formatNumber = (prefix: string, year: number, seq: number): string => {
  assert(Number.isSafeInteger(seq) && seq > 0, 'numbers of a series start at 1')
  const yearPart = String(year % YEAR_MODULO).padStart(YEAR_DIGITS, '0')
  return `${prefix}-${yearPart}-${String(seq).padStart(SEQ_DIGITS, '0')}`
}

/** The day of issue at an instant: YYYY-MM-DD in the issuer's zone. @throws RangeError on an unknown zone */
export const issuedOn = (now: Date, timeZone: string): string => dayIn(now, timeZone)
