/**
 * The prices that Bottega counts with, per region: each with what it rests on and the day on which somebody held the two
 * against each other. On demand, Linux, shared tenancy, in integer micro-USD (a millionth of a dollar). A region or a type
 * that is not here is not priced (launched.ts); nobody's figure stands in for it. A figure is never edited once something was
 * reserved under its version: a new version is added. What has changed since: `hack/reprice`.
 * Source: rules/devinstance.md#reviewed-prices.
 */

/** What a figure rests on, and when it was reviewed: a day, YYYY-MM-DD. */
export type ReviewedFigure = { source: string; reviewedOn: string }

export type ReviewedRegion = {
  /** By instance type, micro-USD per hour. */
  compute: ReviewedFigure & { perHour: Readonly<Record<string, number>> }
  /** gp3, micro-USD per GB and month. */
  storage: ReviewedFigure & { perGbMonth: number }
  /** A public IPv4 address, in use or only held, micro-USD per hour. */
  ipv4: ReviewedFigure & { perHour: number }
  /** A snapshot of the standard tier, micro-USD per GB and month. Nothing is charged for one yet. */
  snapshot: ReviewedFigure & { perGbMonth: number }
}

/** Where an instance is priced that says nothing of a region. */
export const DEFAULT_REGION = 'us-east-1'

/** By pricing version, then by region. */
export const REVIEWED_PRICES: Readonly<Record<string, Readonly<Record<string, ReviewedRegion>>>> = {
  '2026-07-20': {
    'us-east-1': {
      compute: {
        source:
          "Karpenter's price list of AWS, generated on 2026-07-20 of the price list API; AWS's price page had the same on 2025-06-13 (aws-price-watcher a6645eb2e53e)",
        reviewedOn: '2026-11-27',
        perHour: {
          't4g.medium': 33_600,
          't4g.large': 67_200,
          't4g.xlarge': 134_400,
          't4g.2xlarge': 268_800,
          'm7g.xlarge': 163_200,
          'm7g.2xlarge': 326_400,
          'm7g.4xlarge': 652_800,
          'm8g.xlarge': 179_520,
          'm8g.4xlarge': 718_080,
          'r7g.xlarge': 214_200,
          't3.medium': 41_600,
          't3.large': 83_200,
          't3.xlarge': 166_400,
          'm7i.xlarge': 201_600,
          'm7i.2xlarge': 403_200,
          'm7i.4xlarge': 806_400,
          'm7i-flex.xlarge': 191_520,
          'm7i-flex.2xlarge': 383_040,
          'm7i-flex.4xlarge': 766_080,
        },
      },
      storage: {
        source:
          'AWS price list AmazonEC2 20260810215758 (EBS:VolumeUsage.gp3), as TypeOneLabs/tellury c2acfab386e7 recorded it',
        reviewedOn: '2026-11-27',
        perGbMonth: 80_000,
      },
      ipv4: {
        source:
          'AWS price list AmazonVPC 20260724154225 (USE1-PublicIPv4:InUseAddress, IdleAddress), as TypeOneLabs/tellury c2acfab386e7 recorded it',
        reviewedOn: '2026-11-27',
        perHour: 5_000,
      },
      snapshot: {
        source:
          'AWS price list AmazonEC2 20260814011739 (EBS:SnapshotUsage), as TypeOneLabs/tellury c2acfab386e7 recorded it',
        reviewedOn: '2026-11-27',
        perGbMonth: 50_000,
      },
    },
    'eu-central-1': {
      compute: {
        source:
          "SkyPilot's catalogue v8 of AWS, commit e385a0d348ed; of us-east-1 it has the same for these types as above, and AWS's price page had these on 2025-06-13 (aws-price-watcher a6645eb2e53e)",
        reviewedOn: '2026-11-27',
        perHour: {
          't4g.medium': 38_400,
          't4g.large': 76_800,
          't4g.xlarge': 153_600,
          't4g.2xlarge': 307_200,
          'm7g.xlarge': 195_500,
          'm7g.2xlarge': 391_000,
          'm7g.4xlarge': 782_100,
          'm8g.xlarge': 215_080,
          'm8g.4xlarge': 860_320,
          'r7g.xlarge': 258_400,
          't3.medium': 48_000,
          't3.large': 96_000,
          't3.xlarge': 192_000,
          'm7i.xlarge': 241_500,
          'm7i.2xlarge': 483_000,
          'm7i.4xlarge': 966_000,
          'm7i-flex.xlarge': 229_420,
          'm7i-flex.2xlarge': 458_840,
          'm7i-flex.4xlarge': 917_680,
        },
      },
      storage: {
        source: 'AWS price list AmazonEC2 (EUC1-EBS:VolumeUsage.gp3), as others read it on 2026-08-26',
        reviewedOn: '2026-11-26',
        perGbMonth: 95_200,
      },
      ipv4: {
        source:
          "AWS price list AmazonVPC (EUC1-PublicIPv4:InUseAddress), as others read it on 2026-08-26; AWS's price page had the same, idle too, on 2025-06-13 (aws-price-watcher a6645eb2e53e)",
        reviewedOn: '2026-11-27',
        perHour: 5_000,
      },
      snapshot: {
        source: 'AWS bulk price list AmazonEC2 (EUC1-EBS:SnapshotUsage), as others quote it; undated',
        reviewedOn: '2026-11-26',
        perGbMonth: 54_000,
      },
    },
  },
}
