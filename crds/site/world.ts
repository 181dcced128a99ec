/** What the controller has observed of the world around one site: its facts, what was rendered, and where it may stand. */

import type { OwnBase } from '../names/life.ts'
import type { RecordedLinks } from '../values/links.ts'
import type { BrandTokens } from './content/brand/brand.ts'
import type { Template } from './content/content.ts'
import type { OtherSite, WordsSignature } from './content/faults/likeness.ts'
import type { SiteLink, SiteLinks } from './links.ts'
import type { SiteName } from './names/names.ts'
import type { Warning } from './render/input.ts'

/**
 * One rendering, kept for as long as the site. `input` names what it was made of, `digest` its bytes, `neutral` the bytes it
 * would have without a hostname. `name` is the subdomain's label or the full domain, `hostname` what stands in the pages;
 * both null where no domain was chosen. `manifest` is the sha256 of the list of files (manifest.ts).
 */
export type Rendering = {
  input: string
  digest: string
  neutral: string
  name: string | null
  hostname: string | null
  template: Template
  manifest: string
  files: number
  bytes: number
  warnings: Warning[]
  at: string
}

/** What names bytes in facts: a decision about them holds under every hostname (reviewing/review.ts). */
export type Bytes = { digest: string; neutral: string }

/** `seq` is that of the fact. `by` is an account, or null when it came by the spec. */
export type Submission = Bytes & { seq: number; at: string; by: string | null }
export type ReviewVerdict = 'approve' | 'request_changes'
export type ReviewDecision = {
  seq: number
  at: string
  submission: number
  decision: ReviewVerdict
  note: string
  by: string
}
export type Opening = { at: string; submission: number; by: string }

/** Reviewers were told of a submission; `stage` counts from 0 (reviewing/notices.ts). */
export type ReviewNotice = { submission: number; stage: number }
/** Since when it waits, ISO. */
export type DueNotice = ReviewNotice & { since: string }

/** What was put live. Releases count from 1; the same bytes are the same release. */
export type SiteRelease = Bytes & {
  release: number
  name: string
  hostname: string
  host: string
  bytes: number
  files: number
}
/** The k-th (from 1) change of what is live; null when the site was taken down. */
export type Switch = { k: number; at: string; to: SiteRelease | null }

/** A fact that waits for the plan's verdict. `submitAhead` means what is made of `digest`, a first rendering, once it is whole. */
export type ReviewRequest =
  | { ask: 'submitAhead'; seq: number; at: string; digest: string; by: string }
  | { ask: 'submit'; seq: number; at: string; digest: string; by: string }
  | {
      ask: 'decide'
      seq: number
      at: string
      submission: number
      digest: string
      decision: ReviewVerdict
      note: string
      by: string
    }

/** The site's place in the queue of its host; 1 is next. `switched`: its files and its route stand, nothing is awaited but the look from outside. */
export type PublishTurn = {
  place: number
  host: string | null
  stage: 'waiting' | 'switched'
  digest: string | null
  since: string
}

/** A host that takes sites, as the plan needs to know it. */
/** `isCordoned`: sites that are there stay, and no other comes. */
export type SiteHost = { name: string; baseDomain: string; httpsPort: number; ready: boolean; isCordoned?: boolean }

/**
 * A picture by its source. `ready`: at all its widths; `quick`: at the one that is made first; `none`: nothing of it yet. `asked`:
 * it is being worked on.
 */
export type StoredPicture =
  | { state: 'ready' }
  | { state: 'quick' | 'none'; asked: boolean }
  | { state: 'bad'; detail: string }

/** How what is live was found on its host (publishing/look.ts); `nextAt` says when it is looked at next, ISO. */
export type SiteLook =
  /** The host did not let itself be looked at. */
  | { state: 'unseen'; reason: string; message: string; nextAt: string }
  | {
      state: 'seen'
      /** Files and more that are not as they should be. */
      strayed: string[]
      /** Nobody serves the name: the code of what happened instead. */
      unserved: string | null
      /** Pages that are served otherwise, with what they are. */
      pages: string[]
      /** `outdated`: as it was stored before what is wanted changed; `wrong`: somebody changed it, or what stands before it. */
      route: 'right' | 'outdated' | 'wrong'
      /** How often it was put back lately. */
      tries: number
      nextAt: string
    }

/** What the site's words are like, and those of the account's other sites; `isKept`: of what is rendered now (content/faults/likeness.ts). */
export type WordsStanding = { isKept: boolean; signature: WordsSignature | null; others: readonly OtherSite[] }

/** Lists are in the order of their happening. Instants are ISO. */
export type SiteWorld = {
  /** When it was observed, by the platform's clock. */
  at: string
  account: { name: string; templateLock: string | null } | null
  brand: BrandTokens | null
  /** Whether the site counts under the account's number of sites; what comes by REST took its place before. */
  hasQuota: boolean
  /** Names that the site claims; one that is not settled was reserved by a request that may never write it. */
  names: SiteName[]
  /** The base domain of its account, below which its subdomain is; null: below the platform's. */
  base: OwnBase | null
  /** Of the platform, by name. */
  hosts: SiteHost[]
  /** The host that the site was given; null until it needs one. */
  home: string | null
  /** Whole ones: what these are is final. */
  renderings: Rendering[]
  /** What the preview shows meanwhile, with one width of each picture; nobody decides on them. */
  firsts: Rendering[]
  pictures: Record<string, StoredPicture>
  generated: boolean
  /** Its files and its route are off the host. */
  removed: boolean
  submissions: Submission[]
  decisions: ReviewDecision[]
  openings: Opening[]
  /** What reviewers are to be told of now; null when they know. */
  dueNotice: DueNotice | null
  switches: Switch[]
  /** Which states of names the owner was told of, as `NAME AT`. */
  told: string[]
  asks: ReviewRequest[]
  /** Digests that have quota under the cap of publishes of some day. */
  reservedDigests: string[]
  turn: PublishTurn | null
  /** How what is live, or on its way, was found on its host; null while there is nothing to look at. */
  look: SiteLook | null
  words: WordsStanding
  /** Whether names under .test and the like are taken (under `hack/up`). */
  testDomains: boolean
  factSeq: number
  /** That links were ended, in whichever life of the name: what was given away for one never leads to the next. */
  links: RecordedLinks<SiteLink>
  /** Which are good. */
  linkVersions: SiteLinks
  /** Without a slash at its end. */
  previewUrl: string
  reviewUrl: string
  /** Where its contact form posts to, whether it has one or not. */
  formUrl: string
}
