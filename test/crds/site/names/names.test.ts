import {
  GRACE_MS,
  isHeld,
  KEPT_MS,
  lookedAt,
  NAME_LIFE,
  NAME_STATES,
  type NameEvent,
  type NameGuards,
  type NameLook,
  type NameRow,
  type NameState,
  nameAfter,
  SILENCE_MS,
} from '../../../../crds/names/life.ts'
import { judgeAnswers, recordsOf, wantedProof } from '../../../../crds/names/proof.ts'
import { siteEvent } from '../../../../crds/site/events.ts'
import { planSite, type SitePlan } from '../../../../crds/site/plan.ts'
import { viewSite } from '../../../../crds/site/view.ts'
import {
  approved,
  homed,
  NOW,
  release,
  site,
  siteName,
  switchTo,
  turn,
  world,
} from '../../../support/builders/sites/site.ts'
import { type NamesUnderTest, orderOf, runOrder } from '../../../support/judges/nameorders.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const stepsOf = ({ steps }: SitePlan): string[] => steps.map((step) => step.do)
const later = (ms: number): string => new Date(Date.parse(NOW) + ms).toISOString()
const HOUR_MS = 3_600_000
const ALONE = { holder: null, isContested: false }
const SEEN: NameLook = { found: 'txt' }
const ABSENT: NameLook = { found: null, answer: 'absent', detail: 'no record' }
const SILENT: NameLook = { found: null, answer: 'silent', detail: 'no answer' }
const row = (state: NameState, change: Partial<NameRow> = {}): NameRow => ({
  state,
  proof: null,
  askedAt: NOW,
  seenAt: null,
  missingSince: null,
  until: null,
  ...change,
})

spec('the life of a name', (t) => {
  const EVENTS: NameEvent[] = ['claim', 'settle', 'seen', 'absent', 'silent', 'release', 'time']

  t('has a way into each state and a way out of it, and no transition twice', () => {
    for (const state of NAME_STATES) {
      assert.ok(
        NAME_LIFE.some(({ from, to }) => to === state && from !== state),
        `into ${state}`,
      )
      assert.ok(
        NAME_LIFE.some(({ from, to }) => from === state && to !== state),
        `out of ${state}`,
      )
    }
    const keys = NAME_LIFE.map(({ from, on, if: guard }) => `${from} ${on} ${guard ?? ''}`)
    assert.is(new Set(keys).size, keys.length)
  })

  t(
    'makes a name an account’s by a proof, its base domain or the platform alone, whatever happens in whatever state',
    () => {
      const GUARDS = [
        'isPlatform',
        'isBased',
        'isOthers',
        'isLegacy',
        'isGraceOver',
        'isSilenceOver',
        'isKeepOver',
        'isClaimOver',
      ] as const
      const every = Array.from({ length: 2 ** GUARDS.length }, (_, bits): Partial<NameGuards> => {
        return Object.fromEntries(GUARDS.map((guard, n) => [guard, ((bits >> n) & 1) === 1]))
      })
      const all = NAME_STATES.flatMap((from) => EVENTS.flatMap((on) => every.map((guards) => ({ from, on, guards }))))
      const gained = all.filter(({ from, on, guards }) => {
        const to = nameAfter(from, on, guards)
        return !isHeld(from) && to !== 'refused' && isHeld(to)
      })
      const isRight = ({ from, on, guards }: (typeof all)[number]): boolean =>
        guards.isOthers === false &&
        ((from === 'free' && on === 'claim' && (guards.isPlatform === true || guards.isBased === true)) ||
          (from === 'asked' && on === 'claim' && guards.isBased === true) ||
          (from === 'asked' && on === 'seen'))
      assert.ok(gained.length > 0)
      assert.equal(
        gained.filter((one) => !isRight(one)),
        [],
      )
    },
  )

  const CASES: [
    sentence: string,
    from: NameRow,
    look: NameLook,
    rivals: typeof ALONE | object,
    at: number,
    to: NameState,
  ][] = [
    ['asked, and the record is there', row('asked'), SEEN, {}, 0, 'verified'],
    ['asked, and another account has it', row('asked'), SEEN, { holder: { until: null } }, 0, 'asked'],
    ['asked, and there is no record', row('asked'), ABSENT, {}, 0, 'asked'],
    ['verified, and the record is gone', row('verified', { proof: 'txt' }), ABSENT, {}, 0, 'missing'],
    ['verified, and nobody answers', row('verified', { proof: 'txt', seenAt: NOW }), SILENT, {}, HOUR_MS, 'verified'],
    [
      'verified, and nobody answers for weeks',
      row('verified', { proof: 'txt', seenAt: NOW }),
      SILENT,
      {},
      SILENCE_MS,
      'missing',
    ],
    ['served before proofs were asked for', row('verified', { proof: 'before' }), ABSENT, {}, 0, 'verified'],
    [
      'the same, and another account shows a proof',
      row('verified', { proof: 'before' }),
      ABSENT,
      { isContested: true },
      0,
      'missing',
    ],
    [
      'the same, and its record is there',
      row('verified', { proof: 'before' }),
      SEEN,
      { isContested: true },
      0,
      'verified',
    ],
    ['missing, within the grace', row('missing', { missingSince: NOW }), ABSENT, {}, GRACE_MS - 1, 'missing'],
    ['missing, and the grace is over', row('missing', { missingSince: NOW }), ABSENT, {}, GRACE_MS, 'lapsed'],
    ['missing, and nobody answers', row('missing', { missingSince: NOW }), SILENT, {}, GRACE_MS, 'missing'],
    ['missing, and nobody answers for weeks', row('missing', { missingSince: NOW }), SILENT, {}, SILENCE_MS, 'lapsed'],
    ['missing, and back', row('missing', { missingSince: NOW }), SEEN, {}, HOUR_MS, 'verified'],
    ['lapsed, and back', row('lapsed', { until: later(KEPT_MS) }), SEEN, {}, HOUR_MS, 'verified'],
    ['lapsed, and kept', row('lapsed', { until: later(KEPT_MS) }), ABSENT, {}, HOUR_MS, 'lapsed'],
    ['lapsed, and kept no longer', row('lapsed', { until: later(KEPT_MS) }), ABSENT, {}, KEPT_MS, 'asked'],
  ]
  for (const [sentence, from, look, rivals, at, to] of CASES) {
    t(`${sentence}: ${to}`, () => assert.is(lookedAt(from, look, { ...ALONE, ...rivals }, later(at)).state, to))
  }

  t('is looked for often at first, then ever more rarely, daily once it is proven and hourly in doubt', () => {
    const due = (from: NameRow, look: NameLook, at: number): number =>
      Date.parse(lookedAt(from, look, ALONE, later(at)).dueAt) - Date.parse(later(at))
    assert.is(due(row('asked'), ABSENT, 0), 15_000)
    assert.is(due(row('asked'), ABSENT, 8 * HOUR_MS), 2 * HOUR_MS)
    assert.is(due(row('asked'), ABSENT, 999 * HOUR_MS), 6 * HOUR_MS)
    assert.is(due(row('asked'), SEEN, 0), 24 * HOUR_MS)
    assert.is(due(row('verified', { proof: 'txt' }), ABSENT, 0), HOUR_MS)
    assert.is(due(row('verified', { proof: 'before' }), ABSENT, 0), 24 * HOUR_MS)
    const nearlyFree = row('lapsed', { until: later(HOUR_MS / 2) })
    assert.is(due(nearlyFree, ABSENT, 0), HOUR_MS / 2)
  })

  const inMemory = (): NamesUnderTest => {
    const rows = new Map<string, NameRow>()
    const other = (by: string) => rows.get(by === 'a' ? 'b' : 'a')
    const put = (by: string, next: NameState | 'refused', change: Partial<NameRow>) => {
      const before = rows.get(by) ?? row('free')
      if (next === 'free' || next === 'refused') rows.delete(by)
      else rows.set(by, { ...before, ...change, state: next })
    }
    /** What a store does of itself: what was kept for long enough is given up before another has it. */
    const giveUp = (by: string, now: string) => {
      const held = other(by)
      if (held === undefined || held.until === null || Date.parse(held.until) > Date.parse(now)) return
      const to =
        held.state === 'lapsed'
          ? nameAfter('lapsed', 'absent', { isKeepOver: true })
          : nameAfter('quarantined', 'time', { isKeepOver: true })
      put(by === 'a' ? 'b' : 'a', to, { until: null, proof: null })
    }
    return {
      async claim(by, now) {
        const claimed = nameAfter(rows.get(by)?.state ?? 'free', 'claim', {})
        put(by, claimed === 'claimed' ? nameAfter('claimed', 'settle') : claimed, rows.has(by) ? {} : { askedAt: now })
        return claimed !== 'refused'
      },
      async release(by, now) {
        const own = rows.get(by)
        if (own === undefined) return
        const isKeepOver = own.until !== null && Date.parse(own.until) <= Date.parse(now)
        put(by, nameAfter(own.state, 'release', { isKeepOver }), {})
      },
      async look(by, hasRecord, now) {
        giveUp(by, now)
        const own = rows.get(by)
        const rival = other(by)
        if (own === undefined || own.state === 'quarantined') return
        const holder = rival && isHeld(rival.state) ? { until: rival.until } : null
        rows.set(by, lookedAt(own, hasRecord ? SEEN : ABSENT, { holder, isContested: false }, now))
      },
      state: async (by) => rows.get(by)?.state ?? 'free',
    }
  }

  t('in 2,000 orders of claim, proof, lapse and release nobody is served who has not proven the name', async () => {
    let served = 0
    for (let seed = 1; seed <= 2_000; seed++) served += await runOrder(inMemory(), orderOf(seed, 30), `seed ${seed}`)
    assert.ok(served > 2_000, `somebody was served, ${served} times`)
  })
})

spec('the records that prove a name', (t) => {
  const wanted = wantedProof('www.shop.example', 'ab12', ['sites.test', 'more.test'])

  t('are a TXT below the name, or the name as an alias that only this account was told', () => {
    assert.equal(recordsOf(wanted), [
      { type: 'TXT', name: '_bottega-challenge.www.shop.example', value: 'bottega-verification=ab12' },
      { type: 'CNAME', name: 'www.shop.example', value: 'site-ab12.sites.test' },
    ])
    const long = wantedProof(`${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.de`, 'ab12', [])
    assert.equal(recordsOf(long), [], 'a name that is too long for the label has no TXT')
  })

  const ANSWERS: [sentence: string, texts: string[] | null, aliases: string[] | null, found: string | null][] = [
    ['the text', ['v=spf1', ' bottega-verification=ab12 '], null, 'txt'],
    ['the alias, below any base domain', null, ['Site-AB12.more.test.'], 'cname'],
    ['no record', null, null, null],
    ['the text of another account', ['bottega-verification=ffff'], null, null],
    ['the alias of another account', null, ['site-ffff.sites.test'], null],
    ['the platform alone', null, ['sites.test'], null],
  ]
  for (const [sentence, texts, aliases, found] of ANSWERS) {
    t(`${sentence}: ${found ?? 'no proof'}`, () => assert.is(judgeAnswers(wanted, { texts, aliases }).found, found))
  }

  t('what others wrote is shown cut and quoted', () => {
    const judged = judgeAnswers(wanted, { texts: ['a"\n<b>', 'x'.repeat(500)], aliases: ['else.example'] })
    assert.ok(judged.found === null && judged.detail.length < 400)
    assert.match(
      judged.found === null ? judged.detail : '',
      /"a\\"\\n<b>".*www\.shop\.example is an alias of "else\.example"/,
    )
  })
})

spec('a site under a domain of its own', (t) => {
  const own = site({ publish: true, domain: 'shop.example' })
  const named = (change: Parameters<typeof siteName>[1], more: object = {}) => {
    const told = [`shop.example ${NOW}`]
    return { ...homed(own, 'd1', { names: [siteName('shop.example', change)] }), ...approved, told, ...more }
  }
  const there = { ...release(1, 'd1', 'shop.example'), name: 'shop.example' }
  const conditionOf = ({ conditions }: SitePlan) => conditions?.[0]

  t('is not brought live before the name is proven, and says which record to set', () => {
    const plan = planSite(
      own,
      named({ state: 'asked', proof: null, reason: 'no record' }, { reservedDigests: ['d1'], turn: turn() }),
    )
    assert.equal(stepsOf(plan), ['leaveQueue'])
    const after = planSite(own, named({ state: 'asked', proof: null, reason: 'no record' }))
    assert.equal([after.verdict.state, Reflect.get(after.verdict, 'code')], ['stalled', 'DOMAIN_UNPROVEN'])
    assert.match(after.verdict.message, /^DOMAIN_UNPROVEN: .*TXT _bottega-challenge\.shop\.example token.*no record/)
    const { status, reason } = conditionOf(after) ?? {}
    assert.equal([status, reason, after.status.domainState], ['False', 'ProofAsked', 'asked'])
    const [view] = viewSite(own, named({ state: 'asked', proof: null }), after, new Date(NOW)).domains
    assert.equal([view?.served, view?.code, view?.hostname], [false, 'DOMAIN_UNPROVEN', 'shop.example'])
    assert.match(view?.next ?? '', /^Set TXT _bottega-challenge/)
  })

  t('goes live once it is, and stays so while the proof is missing', () => {
    assert.equal(stepsOf(planSite(own, named({ state: 'verified' }))), ['reservePublish'])
    const missing = named({ state: 'missing', missingSince: NOW, routed: true }, { switches: [switchTo(1, there)] })
    const plan = planSite(own, missing)
    assert.equal([stepsOf(plan), plan.verdict.state, conditionOf(plan)?.reason], [[], 'ready', 'ProofMissing'])
  })

  t('is taken off when the proof has lapsed: route and certificate first, then the record of it', () => {
    const lapsed = named({ state: 'lapsed', until: NOW, routed: true }, { switches: [switchTo(1, there)] })
    assert.equal(stepsOf(planSite(own, lapsed)), ['removeRoute', 'recordSwitch'])
    // Killed in between: the route is gone, the record is not.
    assert.equal(stepsOf(planSite(own, named({ state: 'lapsed' }, { switches: [switchTo(1, there)] }))), [
      'removeRoute',
      'recordSwitch',
    ])
    const after = planSite(own, named({ state: 'lapsed' }, { switches: [switchTo(1, there), switchTo(2, null)] }))
    assert.equal([stepsOf(after), Reflect.get(after.verdict, 'code')], [[], 'DOMAIN_LAPSED'])
  })

  t('also when an edit stops all else, or its account is gone', () => {
    const lapsed = named({ state: 'lapsed', routed: true }, { switches: [switchTo(1, there)], account: null })
    assert.equal(stepsOf(planSite(own, lapsed)), ['removeRoute', 'recordSwitch'])
  })

  t('comes down without a word to visitors where the name is not its own any more, also on its way out', () => {
    const off = site({ publish: false, domain: 'shop.example' })
    const queued = { turn: turn(), told: [`shop.example ${NOW}`] }
    const waiting = { ...homed(off, 'd1', { names: [siteName('shop.example', { state: 'lapsed' })] }), ...queued }
    assert.equal(stepsOf(planSite(off, waiting)), ['removeRoute', 'leaveQueue'])
    const gone = site({ publish: true, domain: 'shop.example' }, { deletionTimestamp: NOW })
    const lapsed = named({ state: 'lapsed', routed: true }, { switches: [switchTo(1, there)] })
    assert.equal(stepsOf(planSite(gone, lapsed)), ['removeRoute', 'recordSwitch', 'leaveQueue', 'removeFiles'])
  })

  t('is told that the name is taken once its own record is there too', () => {
    const { reason } = lookedAt(row('asked'), SEEN, { holder: { until: null }, isContested: false }, NOW)
    const plan = planSite(own, named({ state: 'asked', proof: null, reason }))
    assert.is(Reflect.get(plan.verdict, 'code'), 'DOMAIN_TAKEN')
    assert.match(plan.verdict.message, /^DOMAIN_TAKEN: shop\.example: your record is there, and another account/)
    assert.is(conditionOf(plan)?.reason, 'Taken')
  })

  t('gives up the route of a name that it leaves, for who has it next', () => {
    const moved = site({ subdomain: 'shop' })
    const names = [siteName('shop'), siteName('shop.example', { routed: true })]
    const plan = planSite(moved, { ...homed(moved, 'd1', { names }), told: [`shop.example ${NOW}`] })
    assert.equal(stepsOf(plan), ['removeRoute', 'releaseNames'])
  })

  t('its owner is told once that it is proven, missing or lapsed, and nothing of a name of the platform', () => {
    const CASES: [Parameters<typeof siteName>[1], string | null, string | null][] = [
      [{ state: 'verified' }, 'website.domain_verified', null],
      [{ state: 'missing', missingSince: NOW }, 'website.domain_missing', 'domain-missing'],
      [{ state: 'lapsed' }, 'website.domain_lapsed', 'domain-lapsed'],
      [{ state: 'asked', proof: null }, null, null],
      [{ state: 'verified', proof: 'before' }, null, null],
    ]
    for (const [change, event, mail] of CASES) {
      const [step] = planSite(own, { ...named(change), told: [] }).steps
      const told = step?.do === 'tellName' ? [step.event.type, step.news.mail] : [null, null]
      assert.equal(told, [event, mail], JSON.stringify(change))
    }
    assert.ok(!stepsOf(planSite(own, named({ state: 'missing', missingSince: NOW }))).includes('tellName'))
    const label = site({ subdomain: 'shop' })
    assert.ok(!stepsOf(planSite(label, homed(label))).includes('tellName'))
    assert.is(siteEvent('website.domain_lapsed', own, { status: 'live', url: null }).type, 'website.domain_lapsed')
  })

  t('has no condition of its own without a name', () => {
    assert.equal(planSite(site(), world()).conditions, [])
  })
})
