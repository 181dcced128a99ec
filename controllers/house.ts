/**
 * What every kind's controller is given: the clients of the process and, under the present epoch, the ledger, the mirror
 * and what else is shared. A kind takes what it needs; nothing in here knows a kind but the Account, which all of them have.
 */
import type { Kind } from '../crds/kind.ts'
import type { CommonStatus, Resource } from '../crds/object.ts'
import type { Directory } from './directory.ts'
import type { CardProcessor } from './io/cards.ts'
import type { Around } from './io/host.ts'
import type { Hosts } from './io/hosts.ts'
import type { Media } from './io/media.ts'
import type { Pdf } from './io/pdf.ts'
import type { Blobs } from './runtime/blobs.ts'
import type { Egress } from './runtime/egress.ts'
import type { Events } from './runtime/events.ts'
import type { Keys } from './runtime/keys.ts'
import type { Kube } from './runtime/kube.ts'
import type { Ledger } from './runtime/ledger.ts'
import type { Log } from './runtime/log.ts'
import type { Metrics } from './runtime/metrics.ts'
import type { Mirror } from './runtime/mirror.ts'
import type { Pg } from './runtime/pg.ts'
import type { Schedule } from './runtime/schedule.ts'
import type { Cache } from './runtime/watch.ts'

/** The clients and settings of the process, whether it leads or not. */
export type Tools = {
  kube: Kube
  pg: Pg
  pdf: Pdf
  /** Null when this installation collects nothing by card. */
  cards: Pick<CardProcessor, 'livemode'> | null
  keys: Keys
  /** 32 bytes; what is sealed is sealed under it. */
  serverKey: Buffer
  namespace: string
  publicUrl: string
  /** The right-hand side of every Message-ID. */
  mailDomain: string
  log: Log
  /** The platform's clock. */
  now: () => Date
  metrics?: Metrics
  events?: Events
  /** After so many days without anything happening a finished invoice leaves the cluster. */
  retentionDays: number
  /** The one way to addresses that users chose. */
  egress: Egress
  /** Owners may register hosts on loopback (the development exception). */
  allowLoopback: boolean
  /** Stands round every command and admin call to a host. */
  hostAround?: Around
}

/** What the watch holds of a kind. */
export type Held<O> = Pick<Cache<O>, 'get' | 'list' | 'subscribe'>

export type House = Tools & {
  /** Of the lease; every effect carries it (runtime/fence.ts). */
  epoch: () => number
  ledger: Ledger
  mirror: Mirror
  blobs: Blobs
  schedule: Schedule
  accounts: Directory
  hosts: Hosts
  media: Media
  held<Spec, Status extends CommonStatus>(kind: Kind<Spec, Status>): Held<Resource<Spec, Status>>
  /** Something outside changed: look at this resource. */
  wake(kind: string, name: string): void
  /** Something is due in the outbox. */
  onQueued(): void
  /** Something may be due in the schedule. */
  onScheduled(): void
}
