/**
 * What of publishing was seen to work, and what is still to be seen (rules/app.md#capabilities): told from what the apps of the
 * account show, and from nothing that is only configured.
 */
import type { AppView } from '../../../crds/app/view.ts'

type Finding = { name: string; detail: string }
type Domain = AppView['domains'][number]

const isSound = ({ certificate }: Domain): boolean => certificate?.state === 'valid'

/** Of the hostnames that visitors are let in by. */
const servedIn = (views: readonly AppView[]): Domain[] =>
  views.flatMap(({ domains }) => domains.filter(({ served, certificate }) => served || certificate !== null))

const said = (isSeen: boolean, name: string, [seen, pending]: [string, string]): [boolean, Finding] => [
  isSeen,
  { name, detail: isSeen ? seen : pending },
]

export const evidenceOf = (views: readonly AppView[]): { proven: Finding[]; pending: Finding[] } => {
  const domains = views.flatMap(({ domains }) => domains)
  const own = domains.filter(({ kind }) => kind === 'own')
  const all = [
    said(
      domains.some((one) => one.kind === 'managed' && isSound(one)),
      'managed_certificate',
      [
        'A name below a host is served with a good certificate.',
        'No name below a host was seen with a good certificate yet; deploy an app.',
      ],
    ),
    said(
      own.some(({ verified }) => verified),
      'dns_proof',
      [
        'The proof of an own domain was seen in the DNS.',
        'The proof of an own domain was not seen yet; plan one, and set its records.',
      ],
    ),
    said(own.some(isSound), 'own_domain_certificate', [
      'An own domain is served with a good certificate.',
      'No own domain was seen with a good certificate yet.',
    ]),
    said(
      views.some(({ access, readiness }) => access === 'private' && readiness.checked_at !== null),
      'private_access',
      ['A private app is served behind its page to sign in.', 'No private app was seen yet.'],
    ),
  ]
  const those = (isSeen: boolean) => all.flatMap(([seen, finding]) => (seen === isSeen ? [finding] : []))
  return { proven: those(true), pending: those(false) }
}

export const certificatesOf = (
  views: readonly AppView[],
): { served: number; lacking: string[]; first_ends_at: string | null } => {
  const served = servedIn(views)
  const ends = served.flatMap(({ certificate }) => certificate?.not_after ?? []).sort()
  const lacking = served.filter((one) => !isSound(one)).map(({ hostname }) => hostname)
  return { served: served.length - lacking.length, lacking, first_ends_at: ends[0] ?? null }
}
