/** Sizing as a function of data: rules by example, and what holds for every input (rules/devinstance.md#sizing). */
import fc from 'fast-check'
import { AGENT_IDS, type AgentId } from '../../../crds/devinstance/bootstrap/agents.ts'
import {
  CONCURRENCY_MAX,
  type Overrides,
  type Present,
  type SizingInput,
} from '../../../crds/devinstance/sizing/need.ts'
import { PROFILE, profileFault, type ScannerProfile } from '../../../crds/devinstance/sizing/profile.ts'
import { REASON_CODES, type ReasonCode } from '../../../crds/devinstance/sizing/reasons.ts'
import {
  ARCHES,
  CLASSES,
  DISK_GB_MAX,
  fallbackTypes,
  instanceTypeNamed,
  instanceTypeNames,
  priceAnswer,
  priceOf,
  SIZE_CLASSES,
} from '../../../crds/devinstance/sizing/sizes.ts'
import { needsResize, type Sizing, sizeFor } from '../../../crds/devinstance/sizing/sizing.ts'
import { withDefaults } from '../../../crds/kernel/schema.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const profileOf = (part: Partial<ScannerProfile> = {}): ScannerProfile =>
  withDefaults(PROFILE, { commit: COMMIT, scannedAt: '2026-11-20T10:00:00Z', ...part })
const input = (part: Partial<ScannerProfile> = {}, more: Partial<SizingInput> = {}): SizingInput => ({
  profile: profileOf(part),
  concurrency: 1,
  ...more,
})
const codes = ({ reasons }: Sizing): ReasonCode[] => reasons.map(({ code }) => code)
const reasonOf = (sizing: Sizing, code: ReasonCode) => {
  const reason = sizing.reasons.find((each) => each.code === code)
  assert.ok(reason, `${code} among ${codes(sizing)}`)
  return reason
}

const count = (max: number) => fc.nat({ max })
const decimal = (max: number) => fc.nat({ max: max * 1000 }).map((thousandths) => String(thousandths / 1000))
const service = fc.record(
  {
    name: fc.constantFrom('db', 'cache', 'web'),
    image: fc.constantFrom('postgres:17', 'ghcr.io/acme/redis@sha256:0', 'acme/app'),
    memoryMb: count(4096),
    platform: fc.constantFrom('linux/amd64', 'linux/arm64'),
  },
  { requiredKeys: ['name'] },
)
const anyProfile: fc.Arbitrary<ScannerProfile> = fc
  .record({
    languages: fc.dictionary(fc.constantFrom('TypeScript', 'Rust', 'Go', 'constructor', 'C++'), count(200_000_000)),
    trackedFiles: count(100_000),
    trackedBytes: count(2_000_000_000),
    gitPackBytes: count(2_000_000_000),
    lfsBytes: count(2_000_000_000),
    lockfileBytes: count(10_000_000),
    resolvedPackages: count(8000),
    workspacePackages: count(400),
    composeServices: fc.array(service, { maxLength: 6 }),
    testFiles: count(2000),
    testParallelism: count(40),
    archBlockers: fc.array(fc.constant('Dockerfile:1 linux/amd64'), { maxLength: 1 }),
    hostRequirements: fc.record(
      { cpus: count(32), memoryGb: decimal(100), storageGb: decimal(900) },
      { requiredKeys: [] },
    ),
  })
  .map(profileOf)
const anyInput: fc.Arbitrary<SizingInput> = fc
  .record(
    {
      profile: anyProfile,
      concurrency: fc.integer({ min: 1, max: 20 }),
      agents: fc.subarray<AgentId>([...AGENT_IDS]),
      measurements: fc.record({ peakRssGb: decimal(90), diskUsedGb: decimal(2000) }, { requiredKeys: [] }),
      present: fc.record({
        sizeClass: fc.constantFrom(...SIZE_CLASSES),
        arch: fc.constantFrom(...ARCHES),
        diskGb: fc.integer({ min: 10, max: 2000 }),
      }),
      overrides: fc.record(
        {
          sizeClass: fc.constantFrom(...SIZE_CLASSES),
          instanceType: fc.constantFrom(...instanceTypeNames(), 'x9.huge'),
          diskGb: fc.integer({ min: 1, max: DISK_GB_MAX }),
        },
        { requiredKeys: [] },
      ),
      capLeftCents: count(100_000),
    },
    { requiredKeys: ['profile', 'concurrency'] },
  )
  .map((sample) => structuredClone(sample)) // as parsed JSON is: no object without a prototype

const rank = ({ proposal }: Sizing): number => SIZE_CLASSES.indexOf(proposal.sizeClass)

/** Each makes one input larger; undefined when the sample has no such input. */
const LARGER: Record<string, (input: SizingInput, by: number) => SizingInput | undefined> = {
  concurrency: (small, by) => ({ ...small, concurrency: small.concurrency + by }),
  agents: (small) => (small.agents?.length ? { ...small, agents: AGENT_IDS } : undefined),
  peakRssGb: (small, by) => {
    const peak = small.measurements?.peakRssGb
    if (peak === undefined) return undefined
    return { ...small, measurements: { ...small.measurements, peakRssGb: (Number(peak) + by).toFixed(3) } }
  },
  diskUsedGb: (small, by) => {
    const used = small.measurements?.diskUsedGb
    if (used === undefined) return undefined
    return { ...small, measurements: { ...small.measurements, diskUsedGb: (Number(used) + by).toFixed(3) } }
  },
  language: (small, by) => {
    const languages = { ...small.profile.languages, Rust: (small.profile.languages?.Rust ?? 0) + by * 1_000_000 }
    return { ...small, profile: { ...small.profile, languages } }
  },
  composeServices: (small) => {
    const composeServices = [...(small.profile.composeServices ?? []), { name: 'more' }]
    return { ...small, profile: { ...small.profile, composeServices } }
  },
  archBlockers: (small) => ({ ...small, profile: { ...small.profile, archBlockers: ['bin/tool'] } }),
  cpus: (small, by) => {
    const hostRequirements = {
      ...small.profile.hostRequirements,
      cpus: (small.profile.hostRequirements?.cpus ?? 0) + by,
    }
    return { ...small, profile: { ...small.profile, hostRequirements } }
  },
  memoryGb: (small, by) => {
    const memoryGb = (Number(small.profile.hostRequirements?.memoryGb ?? 0) + by).toFixed(3)
    const hostRequirements = { ...small.profile.hostRequirements, memoryGb }
    return { ...small, profile: { ...small.profile, hostRequirements } }
  },
  storageGb: (small, by) => {
    const storageGb = (Number(small.profile.hostRequirements?.storageGb ?? 0) + by).toFixed(3)
    const hostRequirements = { ...small.profile.hostRequirements, storageGb }
    return { ...small, profile: { ...small.profile, hostRequirements } }
  },
  'present.diskGb': (small, by) =>
    small.present ? { ...small, present: { ...small.present, diskGb: small.present.diskGb + by } } : undefined,
  ...Object.fromEntries(
    (
      [
        ['trackedFiles', 1000],
        ['trackedBytes', 1e9],
        ['gitPackBytes', 1e9],
        ['lfsBytes', 1e9],
        ['lockfileBytes', 1e6],
        ['resolvedPackages', 500],
        ['workspacePackages', 50],
        ['testFiles', 1],
        ['testParallelism', 1],
      ] as const
    ).map(([field, unit]) => [
      field,
      (small: SizingInput, by: number): SizingInput => ({
        ...small,
        profile: { ...small.profile, [field]: small.profile[field] + by * unit },
      }),
    ]),
  ),
}

spec('what holds for every size', (t) => {
  for (const [name, larger] of Object.entries(LARGER)) {
    t(`more of ${name} never gives a smaller class, a smaller disk or a lower price`, () => {
      const property = fc.property(anyInput, fc.integer({ min: 1, max: 30 }), (sample, by) => {
        const { overrides: _, ...small } = sample
        const big = larger(small, by)
        fc.pre(big !== undefined)
        const [before, after] = [sizeFor(small), sizeFor(big)]
        assert.ok(rank(after) >= rank(before), `${before.proposal.sizeClass} fell to ${after.proposal.sizeClass}`)
        assert.ok(after.proposal.diskGb >= before.proposal.diskGb, 'the disk fell')
        assert.ok(after.price.runningMonthlyUsd >= before.price.runningMonthlyUsd, 'the price fell')
      })
      fc.assert(property, { numRuns: 300 })
    })
  }
  t('the same input gives the same answer, and is left as it was', () => {
    fc.assert(
      fc.property(anyInput, (sample) => {
        const before = structuredClone(sample)
        assert.equal(sizeFor(sample), sizeFor(structuredClone(sample)))
        assert.equal(sample, before)
      }),
    )
  })
  t('the price is that of what is chosen, and the sum of its parts', () => {
    fc.assert(
      fc.property(anyInput, (sample) => {
        const { chosen, price } = sizeFor(sample)
        assert.equal(price, priceAnswer(priceOf(chosen)))
        const { computeUsd, storageUsd, ipv4Usd } = price.parts
        assert.is(Math.round((computeUsd + storageUsd + ipv4Usd) * 100), Math.round(price.runningMonthlyUsd * 100))
      }),
    )
  })
  t('a box is never smaller than what was measured in use, whatever was asked for, unless the catalogue ends', () => {
    fc.assert(
      fc.property(anyInput, (sample) => {
        const sizing = sizeFor(sample)
        const ends = codes(sizing).includes('NEED_EXCEEDS_CATALOGUE')
        for (const size of [sizing.proposal, sizing.chosen]) {
          if (ends) continue
          assert.ok(size.memoryGib >= Number(sample.measurements?.peakRssGb ?? 0))
          assert.ok(size.diskGb >= Number(sample.measurements?.diskUsedGb ?? 0))
        }
      }),
    )
  })
  t('a disk never shrinks and an architecture never changes in place', () => {
    fc.assert(
      fc.property(anyInput, (sample) => {
        const present: Present | undefined = sample.present
        fc.pre(present !== undefined)
        for (const size of Object.values(pick(sizeFor(sample)))) {
          assert.ok(size.diskGb >= (present?.diskGb ?? 0))
          assert.is(size.arch, present?.arch)
        }
      }),
    )
  })
  t('every override is honoured, or refused with a reason that names it', () => {
    fc.assert(
      fc.property(anyInput, (sample) => {
        const sizing = sizeFor(sample)
        const asked: Overrides = sample.overrides ?? {}
        for (const [field, value] of Object.entries(asked)) {
          const isRefused = sizing.reasons.some(
            (reason) =>
              reason.code === 'OVERRIDE_REFUSED' &&
              (reason.field === field || (field === 'sizeClass' && reason.field === 'instanceType')),
          )
          assert.ok(isRefused || Reflect.get(sizing.chosen, field) === value, `${field} was passed over`)
        }
        if (Object.keys(asked).length === 0) assert.equal(sizing.chosen, sizing.proposal)
      }),
    )
  })
  t('each reason has a known code and a sentence, and figures that are finite', () => {
    fc.assert(
      fc.property(anyInput, (sample) => {
        for (const { code, detail, ...figures } of sizeFor(sample).reasons) {
          assert.ok(REASON_CODES.includes(code))
          assert.ok(detail.length > 5 && !/NaN|undefined|Infinity/.test(detail), detail)
          for (const figure of Object.values(figures)) assert.ok(typeof figure !== 'number' || Number.isFinite(figure))
        }
      }),
    )
  })
  t('a size is a line of the catalogue with its own fallbacks', () => {
    fc.assert(
      fc.property(anyInput, (sample) => {
        for (const size of Object.values(pick(sizeFor(sample)))) {
          const { diskGb: _, fallbackTypes: fallbacks, ...machine } = size
          assert.equal(machine, instanceTypeNamed(size.instanceType))
          assert.equal(fallbacks, fallbackTypes(size))
        }
      }),
    )
  })
  t('the largest input that the schema lets through is sized', () => {
    const most = Object.fromEntries(
      Object.entries(PROFILE.properties).flatMap(([name, field]) =>
        field.type === 'integer' ? [[name, field.maximum]] : [],
      ),
    )
    const sizing = sizeFor(input({ ...most, languages: { Scala: 2 ** 50 } }, { concurrency: CONCURRENCY_MAX }))
    assert.equal([sizing.proposal.sizeClass, sizing.proposal.diskGb], ['XL', DISK_GB_MAX])
    assert.is(codes(sizing).filter((code) => code === 'NEED_EXCEEDS_CATALOGUE').length, 2)
  })
})

const pick = ({ proposal, chosen }: Sizing) => ({ proposal, chosen })

spec('sizing by example', (t) => {
  for (const [sizeClass, peakRssGb] of [
    ['XS', '2.7'],
    ['S', '2.8'],
    ['S', '5.5'],
    ['M', '5.6'],
    ['L', '12'],
    ['XL', '30'],
  ] as const) {
    for (const arch of ARCHES) {
      t(`a measured peak of ${peakRssGb} GiB on ${arch} takes ${sizeClass}`, () => {
        const archBlockers = arch === 'x86_64' ? ['vendor/tool: ELF x86-64'] : []
        const { proposal } = sizeFor(input({ archBlockers }, { measurements: { peakRssGb } }))
        assert.equal([proposal.sizeClass, proposal.arch, proposal.diskGb], [sizeClass, arch, CLASSES[sizeClass].diskGb])
      })
    }
  }
  t('a profile of nothing takes the smallest box', () => {
    const sizing = sizeFor(input())
    assert.is(sizing.proposal.sizeClass, 'XS')
    assert.equal(codes(sizing), ['RAM_NEED', 'VCPU_NEED', 'DISK_NEED'])
    assert.is(reasonOf(sizing, 'RAM_NEED').totalMib, Math.ceil((820 + 1536 + 512) * 1.25))
  })
  t(
    'the estimate adds up: agents by the piece of work, two builds at once, services, the language server, a quarter on top',
    () => {
      const work: Partial<ScannerProfile> = {
        languages: { TypeScript: 64 * 1024 * 10, Lua: 64 * 1024 * 6 },
        resolvedPackages: 400,
        workspacePackages: 40,
        testFiles: 3,
        testParallelism: 8,
        composeServices: [
          { name: 'db', image: 'docker.io/library/postgres:17' },
          { name: 'web', memoryMb: 300 },
        ],
      }
      const {
        code: _,
        detail: __,
        ...parts
      } = reasonOf(sizeFor(input(work, { concurrency: 3, agents: ['codex', 'claude-code'] })), 'RAM_NEED')
      assert.equal(parts, {
        osMib: 820,
        agentsMib: 3 * 2048,
        workMib: 2 * (768 + 16 + 110),
        servicesMib: 256 + 300,
        languageServerMib: 512 + 32 + 100,
        totalMib: (820 + 6144 + 1788 + 556 + 644) * 1.25,
      })
      const tests = reasonOf(sizeFor(input({ testFiles: 9, testParallelism: 8 })), 'RAM_NEED')
      assert.is(tests.workMib, 128 + 8 * 192)
    },
  )
  t('measured beats estimated, and the reason says so with both figures', () => {
    const work = { languages: { Rust: 40_000_000 }, resolvedPackages: 3000 }
    assert.is(sizeFor(input(work)).proposal.sizeClass, 'M')
    const measured = sizeFor(input(work, { measurements: { peakRssGb: '2.5' } }))
    assert.is(measured.proposal.sizeClass, 'XS')
    const { peakMib, totalMib, estimatedMib } = reasonOf(measured, 'RAM_MEASURED')
    assert.equal([peakMib, totalMib], [2560, 3328])
    assert.ok(Number(estimatedMib) > 3686)
    assert.not(codes(measured).includes('RAM_NEED'))
  })
  t('a measure with more digits than a decimal has is rounded up', () => {
    const peakMib = (peakRssGb: string) =>
      reasonOf(sizeFor(input({}, { measurements: { peakRssGb } })), 'RAM_MEASURED').peakMib
    assert.equal(['2.0000000001', '2.000976', '2.0009761', '1e-7', '0'].map(peakMib), [2049, 2049, 2050, 1, 0])
  })
  t('each further piece of work adds its agents to what was measured', () => {
    const more = { measurements: { peakRssGb: '2' }, agents: ['codex', 'gemini-cli'] as AgentId[], concurrency: 3 }
    assert.is(reasonOf(sizeFor(input({}, more)), 'RAM_MEASURED').totalMib, 2663 + 2 * 1536)
  })
  t('what the repository declares is a floor on nominal memory, processors and disk', () => {
    const sizing = sizeFor(input({ hostRequirements: { cpus: 4, memoryGb: '16', storageGb: '95' } }))
    assert.equal([sizing.proposal.sizeClass, sizing.proposal.diskGb], ['M', 95])
    assert.equal(reasonOf(sizing, 'HOST_REQUIREMENT'), {
      code: 'HOST_REQUIREMENT',
      detail: 'the repository declares cpus 4, memoryGb 16, storageGb 95 as the least',
      cpus: 4,
      memoryGb: 16,
      storageGb: 95,
    })
    assert.is(sizeFor(input({ hostRequirements: { memoryGb: '16.1' } })).proposal.sizeClass, 'L')
    assert.is(sizeFor(input({ hostRequirements: { cpus: 5 } })).proposal.sizeClass, 'L')
  })
  t('sustained work does not go on a burst class', () => {
    const sizing = sizeFor(input({ testParallelism: 4, composeServices: [{ name: 'db', memoryMb: 0 }] }))
    assert.is(sizing.proposal.sizeClass, 'XS')
    const busy = sizeFor(input({ testParallelism: 4 }, { concurrency: 2, agents: ['codex'] }))
    assert.is(busy.proposal.sizeClass, 'M')
    const skipped = busy.reasons.filter(({ code }) => code === 'BURST_UNSUITABLE')
    assert.equal(
      skipped.map(({ sizeClass, baselineMilliCpu, expectedMilliCpu }) => [
        sizeClass,
        baselineMilliCpu,
        expectedMilliCpu,
      ]),
      [
        ['XS', 400, 700],
        ['S', 600, 700],
      ],
    )
  })
  t('a service that is pinned to linux/amd64 blocks arm64, and the reason names it', () => {
    const sizing = sizeFor(input({ composeServices: [{ name: 'db', memoryMb: 0, platform: 'linux/amd64' }] }))
    assert.is(sizing.proposal.instanceType, 't3.medium')
    assert.is(reasonOf(sizing, 'ARCH_BLOCKER').blocker, 'compose service db: linux/amd64')
    assert.is(sizeFor(input({ composeServices: [{ name: 'db', platform: 'linux/arm64/v8' }] })).proposal.arch, 'arm64')
  })
  t('a blocker on a present arm64 box asks for another box', () => {
    const present = { sizeClass: 'S', arch: 'arm64', diskGb: 50 } as const
    const sizing = sizeFor(input({ archBlockers: ['Makefile'] }, { present }))
    assert.is(sizing.proposal.arch, 'arm64')
    assert.match(reasonOf(sizing, 'ARCH_BLOCKER').detail, 'Makefile needs x86_64')
  })
  t('a peak of an agent that leaks is sized, and named', () => {
    const sizing = sizeFor(input({}, { measurements: { peakRssGb: '20' } }))
    assert.is(sizing.proposal.sizeClass, 'L')
    assert.ok(codes(sizing).includes('AGENT_LEAK_SUSPECTED'))
    assert.not(codes(sizeFor(input({}, { measurements: { peakRssGb: '14' } }))).includes('AGENT_LEAK_SUSPECTED'))
  })
  t('disk is planned to be 70 % full, or 60 % when it was measured, in steps of ten', () => {
    const disk = (sizing: Sizing) => [sizing.proposal.diskGb, reasonOf(sizing, 'DISK_NEED').measured]
    assert.equal(disk(sizeFor(input({ gitPackBytes: 11e9 }))), [60, false]) // 14 + 2 × 11 = 36 GB
    assert.equal(disk(sizeFor(input({ lfsBytes: 10e9 }))), [70, false]) // 14 + 2 × 10 + 10 = 44 GB
    assert.equal(disk(sizeFor(input({ trackedBytes: 10e9 }, { concurrency: 3 }))), [80, false]) // 14 + 3 × 10 = 44 GB, M
    const more = { resolvedPackages: 6000, composeServices: Array(8).fill({ name: 'x', memoryMb: 0 }) }
    assert.equal(disk(sizeFor(input(more))), [50, false]) // 14 + 12 + 5.6 = 31.6 GB
    assert.equal(disk(sizeFor(input({}, { measurements: { diskUsedGb: '36' } }))), [60, true])
    assert.equal(disk(sizeFor(input({}, { measurements: { diskUsedGb: '36.001' } }))), [70, true])
  })
  t('a class below the estimate is given as asked, with a warning', () => {
    const sizing = sizeFor(input({}, { concurrency: 4, overrides: { sizeClass: 'XS' } }))
    assert.equal([sizing.proposal.sizeClass, sizing.chosen.sizeClass, sizing.chosen.diskGb], ['M', 'XS', 30])
    assert.is(sizing.price.runningMonthlyUsd, 30.58)
    assert.is(reasonOf(sizing, 'OVERRIDE_BELOW_NEED').field, 'sizeClass')
  })
  for (const [sentence, overrides, more, detail] of [
    ['a class below the measured use', { sizeClass: 'XS' }, { measurements: { peakRssGb: '4.5' } }, 'measured in use'],
    ['a disk below the measured use', { diskGb: 40 }, { measurements: { diskUsedGb: '41' } }, '41 GB measured'],
    ['a type that is not on offer', { instanceType: 'p5.48xlarge' }, {}, 'not in the catalogue'],
    ['a type of another class', { instanceType: 'm7g.xlarge', sizeClass: 'S' }, {}, 'm7g.xlarge is of M, not S'],
    ['a smaller disk', { diskGb: 40 }, { present: { sizeClass: 'S', arch: 'arm64', diskGb: 50 } }, 'cannot shrink'],
    [
      'another architecture in place',
      { instanceType: 't3.large' },
      { present: { sizeClass: 'S', arch: 'arm64', diskGb: 50 } },
      't3.large is x86_64, not arm64',
    ],
  ] as [string, Overrides, Partial<SizingInput>, string][]) {
    t(`${sentence} is refused`, () => {
      const sizing = sizeFor(input({}, { ...more, overrides }))
      assert.equal(sizing.chosen, sizing.proposal)
      assert.match(reasonOf(sizing, 'OVERRIDE_REFUSED').detail, detail)
    })
  }
  t('an arm64 type is refused where something needs x86_64', () => {
    const sizing = sizeFor(input({ archBlockers: ['a.so'] }, { overrides: { instanceType: 't4g.medium' } }))
    assert.is(sizing.chosen.instanceType, 't3.medium')
  })
  t('a fallback type and a larger disk are given as asked, at their price', () => {
    const sizing = sizeFor(input({}, { overrides: { instanceType: 'm7i-flex.xlarge', diskGb: 100 } }))
    assert.equal(sizing.chosen.arch, 'x86_64')
    assert.equal(sizing.price.parts, { computeUsd: 139.81, storageUsd: 8, ipv4Usd: 3.65 })
    assert.is(codes(sizing).filter((code) => code === 'OVERRIDE_APPLIED').length, 2)
  })
  t('what is left under the cap stands beside the price', () => {
    const fits = (capLeftCents: number) => reasonOf(sizeFor(input({}, { capLeftCents })), 'CAP_LEFT')
    assert.equal([fits(3058).fits, fits(3057).fits, fits(3057).leftUsd], [true, false, 30.57])
  })
  t('where a size does not fit under it, the largest that does is named, and how much is missing', () => {
    const wanted = { overrides: { sizeClass: 'M' as const } }
    const capped = (capLeftCents: number) => sizeFor(input({}, { ...wanted, capLeftCents }))
    assert.not.ok(codes(capped(12_919)).includes('CAP_FITS'))
    const { code: _, ...said } = reasonOf(capped(10_000), 'CAP_FITS')
    assert.equal(
      [said.sizeClass, said.shortUsd, said.detail],
      [
        'S',
        29.19,
        'S is the largest that fits, at 56.71 USD a month, and less than is needed; for M the cap has to be 29.19 USD higher, which an admin grants',
      ],
    )
    assert.match(reasonOf(capped(100), 'CAP_FITS').detail, 'no size fits; for M')
  })
  t('only a larger class or disk asks for a resize', () => {
    const present = { sizeClass: 'M', arch: 'arm64', diskGb: 80 } as const
    const asks = (sizeClass: 'S' | 'M' | 'L', diskGb: number) => needsResize(present, { sizeClass, diskGb })
    assert.equal([asks('S', 50), asks('M', 80), asks('M', 90), asks('L', 80)], [false, false, true, true])
  })
})

spec('a fresh profile', (t) => {
  const at = (iso: string, ref?: string) => profileFault(profileOf(), { ref }, new Date(iso))
  t('is at most 24 hours old, to the millisecond', () => {
    assert.is(at('2026-11-21T10:00:00Z'), undefined)
    assert.is(at('2026-11-21T10:00:00.001Z')?.code, 'PROFILE_STALE')
    assert.match(at('2026-11-22T11:00:00Z')?.detail ?? '', 'the profile is 49 h old')
  })
  t('may be a little ahead of our clock and no more', () => {
    assert.is(at('2026-11-20T09:55:00Z'), undefined)
    assert.is(at('2026-11-20T09:54:59Z')?.pointer, '/profile/scannedAt')
  })
  t('is of the commit that is assigned, where the ref names one', () => {
    assert.is(at('2026-11-20T10:00:00Z', COMMIT), undefined)
    assert.is(at('2026-11-20T10:00:00Z', 'main'), undefined)
    assert.is(at('2026-11-20T10:00:00Z', 'f'.repeat(40))?.pointer, '/profile/commit')
  })
  t('has an instant that can be read', () => {
    assert.is(profileFault(profileOf({ scannedAt: 'now' }), {}, new Date(0))?.code, 'PROFILE_STALE')
  })
})
