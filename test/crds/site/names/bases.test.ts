import { lookedAt, NAME_STATES, type NameRow } from '../../../../crds/names/life.ts'
import { judgeAnswers, PROOF_KEY, proofToken, wantedProof } from '../../../../crds/names/proof.ts'
import { baseName, domainOfBase, namesOverlap } from '../../../../crds/names/wildcard.ts'
import { baseFaults, stateBelow, wildcardRecord } from '../../../../crds/site/names/base.ts'
import { type BaseRow, baseInUse, baseRecords, viewBase } from '../../../../crds/site/names/baseview.ts'
import { domainFaults, nameOf } from '../../../../crds/site/names/domain.ts'
import { planSite } from '../../../../crds/site/plan.ts'
import { shownName, typedName } from '../../../../crds/values/hostname.ts'
import {
  approved,
  homed,
  NOW,
  release,
  rendering,
  site,
  siteName,
  switchTo,
} from '../../../support/builders/sites/site.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

spec('names as people type them', (t) => {
  const TAKEN: [typed: string, name: string, shown: string][] = [
    ['müller.de', 'xn--mller-kva.de', 'müller.de'],
    ['MÜLLER.DE.', 'xn--mller-kva.de', 'müller.de'],
    ['ｍüller。de', 'xn--mller-kva.de', 'müller.de'],
    ['https://müller.de:8443/shop?x#y', 'xn--mller-kva.de', 'müller.de'],
    ['  Shop.Example ', 'shop.example', 'shop.example'],
    ['faß.de', 'xn--fa-hia.de', 'faß.de'],
    ['例え.jp', 'xn--r8jz45g.jp', '例え.jp'],
    ['日本語abc.jp', 'xn--abc-s08fl0dtz6h.jp', '日本語abc.jp'],
    ['한국.kr', 'xn--3e0b707e.kr', '한국.kr'],
    ['россия.рф', 'xn--h1alffa9f.xn--p1ai', 'россия.рф'],
    ['сосо.рф', 'xn--n1aahb.xn--p1ai', 'сосо.рф'],
    ['ελλάδα.gr', 'xn--hxakic4aa.gr', 'ελλάδα.gr'],
  ]
  for (const [typed, name, shown] of TAKEN) {
    t(`takes ${JSON.stringify(typed)}`, () => {
      assert.equal(typedName(typed), { name })
      assert.is(shownName(name), shown)
      assert.equal(typedName(shown), { name }, 'what is shown may be typed')
    })
  }

  const REFUSED: [typed: string, why: RegExp][] = [
    ['xn--pple-43d.com', /mixes letters of Cyrillic and Latin/],
    ['pаypal.com', /mixes letters of Latin and Cyrillic/],
    ['аррӏе.com', /written in Cyrillic letters that all look like Latin/],
    ['xn--80ak6aa92e.com', /written in Cyrillic letters that all look like Latin/],
    ['www.ορο.com', /written in Greek letters/],
    ['日本кино.jp', /mixes letters of Han and Cyrillic/],
    ['ひらㄅ.tw', /mixes letters of Hiragana and Bopomofo/],
    ['xn--a.de', /stands for no letters/],
    ['a b.de', /no name of the DNS/],
    ['user@shop.de', /no name of the DNS/],
    ['', /no name of the DNS/],
    [`${'a'.repeat(70)}.de`.repeat(5), /no name of the DNS/],
    ['x'.repeat(3_000), /too long/],
  ]
  for (const [typed, why] of REFUSED) {
    t(`refuses ${JSON.stringify(typed.slice(0, 30))}`, () => {
      const found = typedName(typed)
      assert.match('fault' in found ? found.fault : JSON.stringify(found), why)
    })
  }

  t('a domain that passes for another is refused to kubectl too, by the same rule', () => {
    const faults = (domain: string) => domainFaults({ domain }, { baseDomains: [], testDomains: false })
    assert.equal([faults('xn--80ak6aa92e.com')[0]?.code, faults('xn--mller-kva.de')], ['BAD_DOMAIN', []])
  })
})

spec('base domains', (t) => {
  const OVERLAPS: [one: string, other: string, overlap: boolean][] = [
    ['*.p.example', '*.p.example', true],
    ['*.p.example', 'p.example', true],
    ['*.p.example', 'www.p.example', true],
    ['*.p.example', 'a.b.p.example', true],
    ['*.p.example', '*.eu.p.example', true],
    ['*.p.example', 'xp.example', false],
    ['*.p.example', '*.xp.example', false],
    ['*.eu.p.example', 'p.example', false],
    ['www.p.example', 'p.example', false],
    ['www.p.example', 'www.p.example', true],
  ]
  for (const [one, other, overlap] of OVERLAPS) {
    t(`${one} and ${other} ${overlap ? 'are one account’s' : 'may be two accounts’'}`, () => {
      assert.equal([namesOverlap(one, other), namesOverlap(other, one)], [overlap, overlap])
    })
  }

  const rules = { platform: ['apps.bottega.test'], testDomains: true }
  const FAULTS: [domain: string, why: RegExp | null][] = [
    ['partner.example', null],
    ['sites.partner.co.uk', null],
    ['co.uk', /strangers have names below/],
    ['github.io', /strangers have names below/],
    ['example', /no full name/],
    ['apps.bottega.test', /platform's own/],
    ['eu.apps.bottega.test', /platform's own/],
    ['bottega.test', /platform's own/],
    ['10.0.0.1', /no suffix|no full/],
  ]
  for (const [domain, why] of FAULTS) {
    t(`${domain}: ${why === null ? 'may be claimed' : 'BAD_DOMAIN'}`, () => {
      const [fault] = baseFaults(domain, rules)
      if (why === null) assert.is(fault, undefined)
      else assert.match(fault?.detail ?? '', why)
    })
  }

  t('has the token of the domain itself, another for another account, and no alias for a proof', () => {
    const key = Buffer.from(PROOF_KEY)
    assert.is(proofToken(key, 'a', '*.p.example'), proofToken(key, 'a', 'p.example'))
    assert.is.not(proofToken(key, 'a', 'p.example'), proofToken(key, 'b', 'p.example'))
    assert.equal(baseRecords('p.example', 'ab12', '192.0.2.1'), [
      { type: 'TXT', name: '_bottega-challenge.p.example', value: 'bottega-verification=ab12' },
      { type: 'A', name: '*.p.example', value: '192.0.2.1' },
    ])
    assert.is(wildcardRecord('p.example', '2001:db8::1').type, 'AAAA')
    assert.is(wildcardRecord('p.example', 'host.example').type, 'CNAME')
    const wanted = wantedProof('*.p.example', 'ab12', ['sites.test'])
    assert.is(judgeAnswers(wanted, { texts: null, aliases: ['site-ab12.sites.test'] }).found, null)
  })

  t('what is below stands as the base does while it is held, and is to be proven by itself otherwise', () => {
    const below = Object.fromEntries(NAME_STATES.map((state) => [state, stateBelow(state)]))
    assert.equal(below, {
      free: 'asked',
      claimed: 'asked',
      asked: 'asked',
      verified: 'verified',
      missing: 'missing',
      lapsed: 'lapsed',
      quarantined: 'asked',
    })
    assert.equal([domainOfBase(baseName('p.example')), domainOfBase('p.example')], ['p.example', null])
  })

  const row = (change: Partial<BaseRow> = {}): BaseRow => ({
    ...{ domain: 'xn--mller-kva.de', state: 'asked', lookedAt: null, dueAt: null, seenAt: null },
    ...{ missingSince: null, until: null, reason: null, checks: null, names: [], ...change },
  })

  t('is shown with its records, what was found, and what comes next; the newest that is held counts', () => {
    const view = viewBase(row({ state: 'verified' }), baseRecords('xn--mller-kva.de', 'ab', null))
    assert.equal([view.unicode, view.verified, view.records.length], ['müller.de', true, 1])
    assert.match(view.next, /with their next publish/)
    const taken = viewBase(row({ reason: 'DOMAIN_TAKEN: your record is there' }), [])
    assert.equal([taken.reason, taken.verified], ['your record is there', false])
    assert.match(taken.next, /another account/)
    const rows = [row({ domain: 'new.de' }), row({ domain: 'old.de', state: 'missing' })]
    assert.is(baseInUse(rows)?.domain, 'old.de')
    assert.is(baseInUse([row()]), null)
  })

  t('its look keeps what was found of each record', () => {
    const asked: NameRow = { state: 'asked', proof: null, askedAt: NOW, seenAt: null, missingSince: null, until: null }
    const checks = [{ name: 'x', type: 'TXT', expected: 'y', seen: [], ok: false }]
    const looked = lookedAt(
      asked,
      { found: null, answer: 'absent', detail: 'no', checks },
      { holder: null, isContested: false },
      NOW,
    )
    assert.equal([looked.state, looked.checks], ['asked', checks])
  })
})

spec('a site of a partner with a base domain', (t) => {
  const own = site({ publish: true, subdomain: 'shop', digest: 'd1' })
  const base = { domain: 'p.example', state: 'verified' as const }
  const stepsOf = (plan: ReturnType<typeof planSite>) => plan.steps.map((step) => step.do)
  const there = release(1, 'd1')

  t('asks for a name below it, which is none of the platform', () => {
    assert.equal(
      [nameOf({ subdomain: 'shop' }, base), nameOf({ subdomain: 'shop' }, null), nameOf({ domain: 'a.b' }, base)],
      ['shop.p.example', 'shop', 'a.b'],
    )
  })

  t('stays where it is until the next publish, and claims its new name meanwhile', () => {
    const before = homed(own, 'd1', { switches: [switchTo(1, there)], ...approved })
    const world = { ...before, base }
    const claims = planSite(own, world)
    assert.equal(claims.steps, [{ do: 'claimName', name: 'shop.p.example' }])
    const named = { ...world, names: [...world.names, siteName('shop.p.example', { proof: 'base' })] }
    const made = { ...named, renderings: [...named.renderings, rendering(own, named, 'd2', { neutral: 'n-d1' })] }
    const after = planSite(own, made)
    assert.equal([stepsOf(after), after.verdict.state, after.status.url], [[], 'ready', 'https://shop.sites.test/'])
    // The next publish names the bytes with the new name in them.
    const published = site({ publish: true, subdomain: 'shop', digest: 'd2' })
    assert.equal(stepsOf(planSite(published, made)), ['reservePublish'])
  })

  t('is taken off a name whose base has lapsed, without a mail of its own', () => {
    const name = siteName('shop.p.example', { proof: 'base', state: 'lapsed', routed: true })
    const moved = { ...there, name: 'shop.p.example', hostname: 'shop.p.example' }
    const change = {
      names: [name],
      base: { ...base, state: 'lapsed' as const },
      switches: [switchTo(1, moved)],
      ...approved,
    }
    const [tell] = planSite(own, homed(own, 'd1', change)).steps
    assert.ok(tell?.do === 'tellName')
    assert.equal(tell.do === 'tellName' && [tell.news.event, tell.news.mail], ['website.domain_lapsed', null])
    const told = homed(own, 'd1', { ...change, told: [`shop.p.example ${NOW}`] })
    assert.equal(stepsOf(planSite(own, told)), ['removeRoute', 'recordSwitch'])
  })
})
