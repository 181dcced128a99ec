/** The resize proposal of the monitor, and the guard against paying for an agent's leak (rules/devinstance.md#proposals). */
import {
  type ObservedUse,
  type Proposal,
  type ProposalInput,
  proposalOf,
} from '../../../crds/devinstance/sizing/leakguard.ts'
import { PRICING_VERSION } from '../../../crds/devinstance/sizing/prices.ts'
import { DISK_GB_MAX, SIZE_CLASSES, type SizeClass } from '../../../crds/devinstance/sizing/sizes.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const hoursAgo = (hours: number): string => new Date(NOW.getTime() - hours * 3_600_000).toISOString()

const report = (hours: number, more: Partial<ObservedUse> = {}): ObservedUse => ({
  at: hoursAgo(hours),
  memory: { totalGb: 8, peakRssGb: 5 },
  disk: { totalGb: 48, usedGb: 20 },
  ...more,
})
const oom = (hours: number, victim: string, peakRssGb?: number): ObservedUse =>
  report(hours, {
    memory: peakRssGb === undefined ? { totalGb: 8 } : { totalGb: 8, peakRssGb },
    oom: { victim, at: hoursAgo(hours) },
  })
const full = (usedGb: number): ObservedUse => report(0.1, { disk: { totalGb: 48, usedGb } })

const input = (reports: ObservedUse[], more: Partial<ProposalInput> = {}): ProposalInput => ({
  box: {
    id: 'dev-1',
    sizeClass: 'S',
    arch: 'arm64',
    diskGb: 50,
    publicIp: '203.0.113.9',
    pricingVersion: PRICING_VERSION,
  },
  autoscale: 'ask',
  reports,
  since: hoursAgo(100),
  committedCents: 5671,
  capCents: 100_000,
  now: NOW,
  ...more,
})
const propose = (reports: ObservedUse[], more?: Partial<ProposalInput>) => proposalOf(input(reports, more))
const sizeOf = (proposal: Proposal | null) => proposal && [proposal.sizeClass, proposal.diskGb]

spec('the resize proposal', (t) => {
  t('a quiet box has none', () => {
    assert.is(propose([]), null)
    assert.is(propose([report(2), report(1)]), null)
  })
  t('work that ran out of memory gets one class up with its disk, and the exact command', () => {
    assert.equal(propose([oom(2, 'rustc', 7), report(1)]), {
      sizeClass: 'M',
      diskGb: 80,
      reason: `OUT_OF_MEMORY: rustc was ended by the kernel at ${hoursAgo(2)}, out of memory of 8 GB`,
      command: 'bottega devbox resize dev-1 --size-class M --disk-gb 80',
      apply: false,
    })
  })
  t('several at once are still one class', () => {
    assert.equal(sizeOf(propose([oom(3, 'rustc'), oom(2, 'node'), oom(1, 'java')])), ['M', 80])
  })
  t('each class steps to the next, a larger disk stays, and above XL there is none', () => {
    const from = (sizeClass: SizeClass) => {
      const { box: instance } = input([])
      return sizeOf(propose([oom(1, 'rustc')], { box: { ...instance, sizeClass, diskGb: 200 } }))
    }
    assert.equal(SIZE_CLASSES.map(from), [['S', 200], ['M', 200], ['L', 200], ['XL', 300], null])
  })
  for (const [usedGb, diskGb, proposed] of [
    [43.2, 50, null],
    [43.3, 50, 75],
    [43.3, 51, 77],
    [43.3, 33, 50],
    [43.3, DISK_GB_MAX - 1, DISK_GB_MAX],
    [43.3, DISK_GB_MAX, null],
  ] as const) {
    t(
      `${usedGb} of 48 GB on a volume of ${diskGb} GB ${proposed ? `asks for ${proposed} GB` : 'asks for nothing'}`,
      () => {
        const { box: instance } = input([])
        const proposal = propose([full(usedGb)], { box: { ...instance, diskGb } })
        assert.equal(sizeOf(proposal), proposed && ['S', proposed])
        if (proposal) assert.match(proposal.reason, /^DISK_FULL: 90 % of 48 GB/)
      },
    )
  }
  t('memory and disk together are one proposal with both reasons', () => {
    const proposal = propose([oom(1, 'rustc'), full(47)])
    assert.equal(sizeOf(proposal), ['M', 80])
    assert.match(proposal?.reason ?? '', /^OUT_OF_MEMORY: .*; DISK_FULL: 97 %/)
    const { box: instance } = input([])
    assert.equal(sizeOf(propose([oom(1, 'rustc'), full(47)], { box: { ...instance, diskGb: 70 } })), ['M', 105])
  })
  t('a disk that was cleared since asks for nothing', () => {
    assert.is(propose([full(47), report(0)]), null)
  })
  t('what happened before the present size, or more than a day ago, is past', () => {
    assert.is(propose([oom(3, 'rustc')], { since: hoursAgo(2) }), null)
    assert.is(propose([oom(25, 'rustc')]), null)
    assert.is(propose([full(47)], { since: hoursAgo(0) }), null)
    assert.ok(propose([oom(23.9, 'rustc')]))
  })
  t('a box whose clock is days off is understood by how long ago it says that it was', () => {
    const told = (agoHours: number): ObservedUse => ({
      ...report(1),
      sentAt: '2026-11-17T12:00:00Z',
      oom: { victim: 'rustc', at: new Date(Date.parse('2026-11-17T12:00:00Z') - agoHours * 3_600_000).toISOString() },
    })
    assert.equal(sizeOf(propose([told(0)], { since: hoursAgo(2) })), ['M', 80])
    assert.is(propose([told(1.5)], { since: hoursAgo(2) }), null)
    assert.is(propose([told(23.5)]), null)
    assert.equal(sizeOf(propose([report(1, { oom: { victim: 'rustc' } })])), ['M', 80])
  })
  t('autoscale never opens none', () => {
    assert.is(propose([oom(1, 'rustc'), full(47)], { autoscale: 'never' }), null)
  })
})

spec('the leak guard', (t) => {
  for (const victim of [
    'claude',
    '/opt/bottega/agents/x/claude',
    'codex',
    'gemini',
    'gemini-cli',
    'claude-code',
    'Claude',
  ]) {
    t(`an agent that leaks (${victim}) buys no memory`, () => assert.is(propose([oom(1, victim, 4)]), null))
  }
  for (const victim of ['node', 'rustc', 'claudette', '', 'MainThread']) {
    t(`${victim || 'a process without a name'} is work`, () =>
      assert.equal(sizeOf(propose([oom(1, victim, 7)])), ['M', 80]),
    )
  }
  t('an agent with less than half of the memory was not what filled it', () => {
    assert.equal(sizeOf(propose([oom(1, 'claude', 3.99)])), ['M', 80])
  })
  t('an agent whose share is not known counts as a leak', () => assert.is(propose([oom(1, 'claude')]), null))
  t('the second leak within a day proposes to cap the agents, not to buy memory', () => {
    const proposal = propose([oom(5, 'claude', 7), oom(2, 'codex', 6)])
    assert.equal(proposal, {
      sizeClass: 'S',
      diskGb: 50,
      reason:
        'AGENT_LEAK_SUSPECTED: codex filled the memory and was ended by the kernel 2 times in 24 h; cap it instead of buying more',
      command: 'ssh dev@203.0.113.9 systemctl --user set-property agents.slice MemoryMax=50%',
      apply: false,
    })
    assert.is(propose([oom(25, 'claude', 7), oom(2, 'claude', 7)]), null)
  })
  t('one leak told in many reports is one', () => {
    const event = oom(3, 'claude', 7)
    const again = (hours: number): ObservedUse => ({ ...oom(hours, 'claude', 1), oom: event.oom as object })
    assert.is(propose([event, again(2), again(1)]), null) // told again, when the agent was small once more
  })
  t('a leak does not hide work that ran out of memory, before it or after it', () => {
    assert.equal(sizeOf(propose([oom(3, 'rustc'), oom(2, 'claude', 7), oom(1, 'claude', 7)])), ['M', 80])
    assert.equal(sizeOf(propose([oom(2, 'claude', 7), oom(1, 'rustc')])), ['M', 80])
  })
  t('a leak does not hide a full disk', () => {
    assert.equal(sizeOf(propose([oom(3, 'claude', 7), oom(2, 'claude', 7), full(47)])), ['S', 75])
  })
  t('a cap is never applied without being asked', () => {
    assert.is(propose([oom(5, 'claude', 7), oom(2, 'claude', 7)], { autoscale: 'auto' })?.apply, false)
  })
})

spec('autoscale auto', (t) => {
  const apply = (more: Partial<ProposalInput>) => propose([oom(1, 'rustc')], { autoscale: 'auto', ...more })?.apply
  t('applies a step', () => assert.is(apply({}), true))
  t('ask does not', () => assert.is(apply({ autoscale: 'ask' }), false))
  t('at most once in 24 hours', () => {
    assert.equal(
      [23.99, 24].map((hours) => apply({ lastAutoStepAt: hoursAgo(hours) })),
      [false, true],
    )
  })
  t('never past the cap, to the cent', () => {
    // S is 56.71 and M 129.19 USD a month; another 10.00 is committed elsewhere
    const caps = [13_919, 13_918].map((capCents) => apply({ committedCents: 6671, capCents }))
    assert.equal(caps, [true, false])
  })
  t('a step that may not be taken stays open for a person', () => {
    const proposal = propose([oom(1, 'rustc')], { autoscale: 'auto', capCents: 0 })
    assert.equal([sizeOf(proposal), proposal?.apply], [['M', 80], false])
  })
})
