/** Mails to the owner of an account about a domain of its own whose proof is gone (rules/site.md#the-life-of-a-name). */

import type { ProofRecord } from '../../names/proof.ts'
import type { MailParts } from '../../text/mail.ts'
import { noticeMail, oneLine } from '../../text/notice.ts'

/** What is queued, so that a repeat says the same. `site` is empty for a base domain, which is its account's. `url` the page to look at, `by` (ISO) when the next thing happens by itself. */
export type NameMail = {
  mail: 'domain-missing' | 'domain-lapsed' | 'base-missing' | 'base-lapsed'
  to: string
  domain: string
  site: string
  records: readonly ProofRecord[]
  by: string | null
  url: string
}

const VALUE_MAX = 300
const value = (text: string): string => oneLine(text).slice(0, VALUE_MAX)

const recordLines = (records: readonly ProofRecord[]): string[] =>
  records.map(({ type, name, value: text }) => `${type} record: ${value(name)} with the value ${value(text)}`)

const day = (at: string | null): string => (at === null ? '' : at.slice(0, 10))

const saidOf = ({ mail, domain, site, records, by }: NameMail): { subject: string; lead: string[] } => {
  const name = value(domain)
  const set = [
    records.length > 1 ? 'Set one of these where the domain is managed:' : 'Set this where the domain is managed:',
  ]
  switch (mail) {
    case 'domain-missing':
      return {
        subject: `The proof of ${name} is missing`,
        lead: [
          `The record that proves ${name} to be yours is not in the DNS any more. Your website ${value(site)} is served under it until ${day(by)}; after that it is taken down.`,
          ...set,
          ...recordLines(records),
          'It is looked for every hour, and nothing else is to be done.',
        ],
      }
    case 'domain-lapsed':
      return {
        subject: `${name} is served no longer`,
        lead: [
          `The record that proves ${name} to be yours has been missing for too long, so your website ${value(site)} was taken down there. Nobody else may use the name here until ${day(by)}.`,
          ...set,
          ...recordLines(records),
          'The website comes back by itself once the record is seen.',
        ],
      }
    case 'base-missing':
      return {
        subject: `The proof of ${name} is missing`,
        lead: [
          `The record that proves ${name} to be yours is not in the DNS any more. Your websites below it are served until ${day(by)}; after that they are taken down.`,
          ...set,
          ...recordLines(records),
          'It is looked for every hour, and nothing else is to be done.',
        ],
      }
    case 'base-lapsed':
      return {
        subject: `Nothing is served below ${name} any longer`,
        lead: [
          `The record that proves ${name} to be yours has been missing for too long, so your websites below it were taken down. Nobody else may use the name here until ${day(by)}.`,
          ...set,
          ...recordLines(records),
          'They come back by themselves once the record is seen.',
        ],
      }
    default:
      return mail satisfies never
  }
}

/** Pure: the same notice gives the same mail. */
export const nameMail = (notice: NameMail): MailParts =>
  noticeMail({ ...saidOf(notice), label: 'Your website', words: 'Look at the website', url: notice.url })
