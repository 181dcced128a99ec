/** What may be asked of a site, and how each is answered when it is decided (rules/site.md#over-rest). */
import { SITE } from '../../crds/site/kind.ts'
import type { SiteLink } from '../../crds/site/links.ts'
import type { SiteSpec } from '../../crds/site/schema.ts'
import type { SiteView } from '../../crds/site/view.ts'
import { FIRST_LINK } from '../../crds/values/links.ts'
import { type Command, type CommandGoal, type GenerationGoal, judgeGeneration } from '../command/command.ts'
import type { Judgement } from '../command/look.ts'
import { factCommand } from '../command/report.ts'
import { deleting } from '../command/resource.ts'
import { refuseStalled } from '../command/verdict.ts'
import type { Answer } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { locationOf, refuseUnsound, type ShownSiteRow } from './read.ts'

const shown = ({ view }: ShownSiteRow): Answer => ({ status: 200, body: { site: view } })

/** `stoodThere`: an earlier call made it. */
type CreationGoal = { uid: string; stoodThere: boolean }

/** What the preview shows; a view of before names only what is final. */
export const shownDigest = ({ preview_digest: shown, digest }: SiteView): string | null => shown ?? digest

export const isRendered = (row: ShownSiteRow | undefined): row is ShownSiteRow =>
  row !== undefined && (shownDigest(row.view) !== null || row.view.stalled !== null)

/** @param replayed an earlier call made it */
export const createdAnswer = ({ view: site }: ShownSiteRow, replayed: boolean): Answer => {
  return {
    status: replayed ? 200 : 201,
    headers: { location: locationOf(site.id) },
    body: { site, warnings: site.warnings, replayed },
  }
}

export const createCommand: Command<CreationGoal, SiteView> = {
  name: 'site.create',
  kind: SITE,
  judge({ uid }, row) {
    if (row !== undefined && row.uid !== uid) return 'remade'
    return isRendered(row) ? 'decided' : 'pending'
  },
  async answer(_deps, _asking, { stoodThere }, row) {
    if (row === undefined) return null
    refuseStalled(row)
    return createdAnswer(row, stoodThere)
  },
}

export const changeCommand: Command<GenerationGoal, SiteView> = {
  name: 'site.change',
  kind: SITE,
  judge: judgeGeneration,
  async answer(_deps, _asking, _goal, row) {
    if (row === undefined) return null
    refuseUnsound(row)
    return { status: 200, body: { site: row.view, warnings: row.view.warnings } }
  },
}

/** What is to be live: bytes, or nothing. */
export type DesiredPublish = Pick<SiteSpec, 'publish'> & { digest: string | null }
type PublishGoal = GenerationGoal & DesiredPublish

const isLive = ({ publish, digest: wanted }: DesiredPublish, { live_digest: live, digest }: SiteView): boolean =>
  // the same site, under the name that its host has given it since
  live === wanted || (publish && live !== null && live === digest)

/** Bytes take their time after the spec was read: only what is live, or stalled, has come to its end. */
const judgePublish = (goal: PublishGoal, row: ShownSiteRow | undefined): Judgement => {
  const judgement = judgeGeneration(goal, row)
  if (row === undefined || (judgement !== 'decided' && judgement !== 'overtaken')) return judgement
  const { stalled, status } = row.view
  if (isLive(goal, row.view)) return 'decided'
  if (stalled !== null) return judgement
  return judgement === 'overtaken' && status !== 'publishing' ? 'overtaken' : 'pending'
}

export const publishCommand: Command<PublishGoal, SiteView> = {
  name: 'site.publish',
  kind: SITE,
  judge: judgePublish,
  async answer(_deps, _asking, _goal, row) {
    if (row === undefined) return null
    refuseStalled(row)
    return shown(row)
  },
}

export const reviewCommand = factCommand({
  name: 'site.review',
  kind: SITE,
  refusal: 'The site was not as this expected it to be.',
  answer: (_deps, _asking, { row }) => shown(row),
})

const urlOf = ({ preview_url, review }: SiteView, purpose: SiteLink): string | null => {
  if (purpose === 'form') return null
  return purpose === 'preview' ? preview_url : (review?.url ?? null)
}

/** @param isReplay it had come to that version already */
export const rotatedAnswer = ({ view }: ShownSiteRow, purpose: SiteLink, isReplay: boolean): Answer => ({
  status: 200,
  body: {
    version: view.link_versions?.[purpose] ?? FIRST_LINK,
    url: urlOf(view, purpose),
    site: view,
    ...(isReplay && { replayed: true }),
  },
})

export const rotateCommand = factCommand<SiteView>({
  name: 'site.rotate',
  kind: SITE,
  answer: (_deps, _asking, { row, fact }) => rotatedAnswer(row, fact.body.purpose as SiteLink, false),
})

export const deleteCommand = deleting('site.delete', SITE)

export const siteCommands: readonly Command<CommandGoal, unknown, Pick<Deps, 'ledger'>>[] = [
  createCommand,
  changeCommand,
  publishCommand,
  reviewCommand,
  rotateCommand,
  deleteCommand,
]
