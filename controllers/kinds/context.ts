/**
 * What every kind's controller is given: the clients of the process and, under the present epoch, the ledger, the mirror
 * and what else is shared. A kind takes what it needs; nothing in here knows a kind but the Account, which all of them have.
 */

import type { Unserved } from '../../crds/account/tenants.ts'
import type { Kind } from '../../crds/kernel/kind.ts'
import type { CommonStatus, Resource } from '../../crds/kernel/object.ts'
import type { ComposeJudge } from '../base/judging/judge.ts'
import type { Keys } from '../base/keys.ts'
import type { Log } from '../base/log.ts'
import type { CardProcessor } from '../io/cards.ts'
import type { AroundHost, Hosts } from '../io/hosts/link.ts'
import type { Renderer } from '../io/pdf/renderer.ts'
import type { Media } from '../io/pictures/media.ts'
import type { PictureQueue } from '../io/pictures/queue.ts'
import type { Events } from '../kube/events.ts'
import type { Kube } from '../kube/kube.ts'
import type { TenantDoor } from '../kube/tenants/door.ts'
import type { Witness } from '../kube/witness.ts'
import type { Egress } from '../net/egress.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Lives } from '../store/account/lives.ts'
import type { Blobs } from '../store/blobs.ts'
import type { Desires } from '../store/ledger/desires.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import type { Schedule } from '../store/ledger/schedule.ts'
import type { Mirror } from '../store/mirror.ts'
import type { Pg } from '../store/pg/pg.ts'
import type { Directory } from './account-index.ts'
import type { Held } from './held.ts'
import type { Behind } from './invoice/behind.ts'

/** The clients and settings of the process, whether it leads or not. */
export type Tools = {
  kube: Kube
  pg: Pg
  pdf: Pick<Renderer, 'render'>
  composeJudge: Pick<ComposeJudge, 'judge'>
  /** Null when this installation collects nothing by card. */
  cards: Pick<CardProcessor, 'livemode'> | null
  keys: Keys
  namespace: string
  publicUrl: string
  /** The right-hand side of every Message-ID. */
  mailDomain: string
  log: Log
  /** The platform's clock. */
  now: () => Date
  /** Whether it may be believed (workers/clock-guard.ts): what falls due waits while it may not. Yes when left out. */
  isClockTrusted?: () => boolean
  metrics?: Metrics
  events?: Events
  /** After so many days without anything happening a finished invoice leaves the cluster. */
  retentionDays: number
  /** The one way to addresses that users chose. */
  egress: Egress
  /** Of the servers that are asked whether a domain is proven, `address` or `address:port`; those of the system when left out. */
  nameServers?: readonly string[] | undefined
  /** Owners may register hosts on loopback (the development exception). */
  allowLoopback: boolean
  /** Stands round every command and admin call to a host. */
  hostAround?: AroundHost
  /** Where a resource lives, where there are several namespaces (kube/tenants/). */
  livesIn?: TenantDoor['livesIn']
  /** What stands where nobody works on it. */
  strays?: TenantDoor['strays'] | undefined
  /** What stands in namespaces that are not served. */
  unserved?: () => Promise<Unserved[]>
  /** Resources are not there any more that nobody deleted. */
  onLost?: () => void
  /** The database was away, and is there again: it may be an older copy. */
  onReconnected?: () => void
  /** A host knows a leader of the epoch `mark`, which is above ours. */
  onHostAhead?: (mark: number) => void
  /** Told of commands of apps that ended: why they were run, and how they ended. */
  onRunEnded?: (cause: string, state: string) => void
  /** Told of backups and restores of apps that ended. */
  onBackupEnded?: (kind: string, state: string) => void
  /** Told of visits of sites, as they are counted. */
  onVisits?: (host: string, visits: number) => void
  /** Told of how many resources the ledger is behind, whenever that changes. */
  onBehind?: (count: number) => void
}

export type Context = Tools & {
  /** Of the lease; every effect carries it (runtime/fence.ts). */
  epoch: () => number
  ledger: Ledger
  mirror: Mirror
  blobs: Blobs
  schedule: Schedule
  /** What was asked, beside the cluster. */
  desires: Desires
  /** Whether what is gone was deleted for itself. */
  witness: Witness
  /** Where the ledger is behind the cluster. */
  behind: Behind
  accounts: Directory
  lives: Lives
  hosts: Hosts
  media: Media
  /** Of websites, worked on beside the passes. */
  pictures: PictureQueue
  /** How long what could be committed at once waits for company: so long while many passes run, 0 ms else. */
  gatherMs(crowdedMs: number): number
  held<Spec, Status extends CommonStatus>(kind: Kind<Spec, Status>): Held<Resource<Spec, Status>>
  /** Something outside changed: look at this resource. */
  wake(kind: string, name: string): void
  /** Something is due in the outbox. */
  onQueued(): void
  /** Something may be due in the schedule. */
  onScheduled(): void
}
