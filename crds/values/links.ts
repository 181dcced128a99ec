/**
 * Which links of a resource are good. They are derived and not stored, so what ends those that were given away is a higher
 * version on record: a fact, which is never changed (hack/decisions/054). A password of a page is ended alike. Those of before
 * there were versions are of the first.
 */

/** The version of what was never ended. */
export const FIRST_LINK = 1
export const LINK_VERSION_MAX = 1_000_000

/** The kind of the fact. */
export const LINK_FACT = 'link'

/** By what a link is for, in the words of the resource's `spec.linkVersions`. */
export type LinkVersions<Purpose extends string> = Readonly<Record<Purpose, number>>

/** `by`: an account, or null when it came by the spec or was given back from the status. */
export type LinkBody = { purpose: string; version: number; by: string | null; reason: string | null }

/** Something that was asked for and that the plan has not taken in. */
export type AskedLink = { seq: number; purpose: string; version: number }

type LinkFact = { seq: number; kind: string; state: string; body: Record<string, unknown> }

/** The same version is made once, whoever asks for it. */
export const linkKey = (purpose: string, version: number): string => `${LINK_FACT}:${purpose}:${version}`

const linksIn = (facts: readonly LinkFact[]): (AskedLink & { state: string })[] =>
  facts
    .filter(({ kind, state }) => kind === LINK_FACT && state !== 'refused')
    .map(({ seq, state, body }) => ({ seq, state, purpose: String(body.purpose), version: Number(body.version) }))

/** The highest of what each source knows; one that knows of nothing may be left out. */
export const newestLinks = <Purpose extends string>(
  purposes: readonly Purpose[],
  ...known: (Readonly<Partial<Record<Purpose, number>>> | null | undefined)[]
): LinkVersions<Purpose> =>
  Object.fromEntries(
    purposes.map((purpose) => [purpose, Math.max(FIRST_LINK, ...known.map((one) => one?.[purpose] ?? FIRST_LINK))]),
  ) as LinkVersions<Purpose>

/** What is on record: a fact holds from when it stands there, taken in by a plan or not. */
export const linksOnRecord = <Purpose extends string>(
  purposes: readonly Purpose[],
  facts: readonly LinkFact[],
): LinkVersions<Purpose> =>
  newestLinks(
    purposes,
    ...linksIn(facts).map(({ purpose, version }) => ({ [purpose]: version }) as Partial<Record<Purpose, number>>),
  )

/** What is on record, and what of it was asked for and waits for the plan, in the order of the asking. */
export type RecordedLinks<Purpose extends string> = { recorded: LinkVersions<Purpose>; asked: AskedLink[] }

export const recordedLinks = <Purpose extends string>(
  purposes: readonly Purpose[],
  facts: readonly LinkFact[],
): RecordedLinks<Purpose> => ({
  recorded: linksOnRecord(purposes, facts),
  asked: linksIn(facts)
    .filter(({ state }) => state === 'pending')
    .map(({ seq, purpose, version }) => ({ seq, purpose, version })),
})

type Versions<Purpose extends string> = { linkVersions?: Readonly<Partial<Record<Purpose, number>>> }

/**
 * Which are good. What a status or a spec says holds before it is on record: the database may be an older copy, and what was ended
 * does not come back by it.
 */
export const linksNow = <Purpose extends string>(
  purposes: readonly Purpose[],
  { spec, status }: { spec: Versions<Purpose>; status?: Versions<Purpose> | undefined },
  recorded: LinkVersions<Purpose>,
): LinkVersions<Purpose> => newestLinks(purposes, recorded, spec.linkVersions, status?.linkVersions)

/** Those of which something was ended, for a status that tells no more than there is to tell; undefined when nothing was. */
export const endedLinks = <Purpose extends string>(
  versions: LinkVersions<Purpose>,
): Partial<Record<Purpose, number>> | undefined => {
  const ended = Object.entries<number>(versions).filter(([, version]) => version > FIRST_LINK)
  return ended.length === 0 ? undefined : (Object.fromEntries(ended) as Partial<Record<Purpose, number>>)
}

/** What somebody knows of and is not on record. */
export const unrecordedLinks = <Purpose extends string>(
  purposes: readonly Purpose[],
  known: LinkVersions<Purpose>,
  recorded: LinkVersions<Purpose>,
): { purpose: Purpose; version: number }[] =>
  purposes
    .filter((purpose) => known[purpose] > recorded[purpose])
    .map((purpose) => ({ purpose, version: known[purpose] }))
