/** What a reviewer is shown of two versions: words, links, prices, contacts, rounds; and when reviewers are told. */
import fc from 'fast-check'
import type { Content } from '../../../crds/site/content/content.ts'
import { readFacts, type SiteFact } from '../../../crds/site/facts.ts'
import { planSite } from '../../../crds/site/plan.ts'
import { reviewerName } from '../../../crds/site/publishing/statement.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { approvalFor, certificateOf, certificatePathOf } from '../../../crds/site/reviewing/certificate.ts'
import { changesBetween, NO_VERSION, type Version } from '../../../crds/site/reviewing/changes.ts'
import { reviewDecidedMail, reviewWaitsMail } from '../../../crds/site/reviewing/mail.ts'
import { dueNotice, stageAt } from '../../../crds/site/reviewing/notices.ts'
import { pageOfPointer } from '../../../crds/site/reviewing/places.ts'
import { baseOf, roundsOf } from '../../../crds/site/reviewing/rounds.ts'
import { CHARS_MAX, LINES_MAX, wordsOfPage } from '../../../crds/site/reviewing/words.ts'
import { type DiffLine, diffText, LINE_EDITS_MAX } from '../../../crds/text/difference.ts'
import { HOSTILE } from '../../support/builders/hostile.ts'
import { sampleContent } from '../../support/builders/sites/sample.ts'
import { decision, homed, site, submission } from '../../support/builders/sites/site.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const rendered = (content: Content) =>
  renderSite({
    ...{ content, images: {}, fonts: {}, logo: null, template: content.meta.template },
    ...{ brand: null, hostname: 'voss.example' },
  })
const pageOf = (content: Content, path = 'index.html'): string => {
  const found = rendered(content).files.find((file) => file.path === path)
  if (typeof found?.content !== 'string') throw new Error(`there is no page ${path}`)
  return found.content
}
const sample = (change: Partial<Content> = {}): Content => ({
  ...sampleContent('en', 'classic', 'studio'),
  ...change,
})
const versionOf = (content: Content): Version => ({
  content,
  pages: rendered(content)
    .files.filter(({ path }) => path.endsWith('index.html'))
    .map(({ path, content: html }) => ({
      path: `/${path.replace('index.html', '')}`,
      words: wordsOfPage(String(html)),
    })),
})

spec('a page as a visitor reads it', (t) => {
  t('holds every word that stands on it, and none of the markup', () => {
    const { lines, title, description, lang, links, loads, data, isCut } = wordsOfPage(pageOf(sample()))
    const all = lines.join('\n')
    for (const words of ['Water jug', '€68', '24 cm', 'Taberna do Largo, Porto', 'atelier@voss.example']) {
      assert.ok(all.includes(words), words)
    }
    assert.equal([lang, isCut, loads], ['en', false, []])
    assert.match(title, /^Voss Ceramics – Stoneware/)
    assert.match(description, /^A workshop of three in Porto/)
    assert.not.ok(/[<>]|&amp;|--accent/.test(all))
    assert.ok(links.some(({ url, words }) => url === 'mailto:atelier@voss.example' && words !== ''))
    assert.ok(data.length > 0)
  })
  t('breaks lines where blocks end, and not within a line', () => {
    const read = (html: string) => wordsOfPage(html).lines
    assert.equal(read('<p>One <b>two</b>\n three</p><div>four<br>five</div>six'), [
      'One two three',
      'four',
      'five',
      'six',
    ])
    assert.equal(read('<img alt="A &lt;jug&gt;"><p>&#65;&#x42;&nbsp;&copy;</p>'), ['[A <jug>]', 'AB &copy;'])
    assert.equal(read('<style>p{}</style><script>x</script>a<!-- b -->c'), ['ac'])
  })
  t('names what a browser would ask of others, and none of what waits for a click', () => {
    const { loads, links } = wordsOfPage(
      '<link rel="canonical" href="https://a.example/"><a href="https://b.example/x">B</a><img src="//c.example/p.png"><script src="https://d.example/s.js"></script><iframe src="https://e.example/"></iframe>',
    )
    assert.equal(loads, ['//c.example/p.png', 'https://d.example/s.js', 'https://e.example/'])
    assert.equal(links, [{ url: 'https://b.example/x', words: 'B' }])
  })
  t('comes to an end for any bytes, and says what it left out', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<', '>', '</a', '<a href="', '"', '<svg', '<!--', '&#x', 'x', '\n')),
        (parts) => {
          wordsOfPage(parts.join(''))
        },
      ),
    )
    for (const piece of ['<p>x', '<svg', '<a href="', '<!--', '&#x41', '<a\nx=""', '\nx=""', '1.x']) {
      assert.is(wordsOfPage(piece.repeat(CHARS_MAX / 2)).isCut, true, piece)
    }
    assert.is(wordsOfPage('<p>x</p>'.repeat(CHARS_MAX / 8)).lines.length, LINES_MAX)
  })
})

const shown = (lines: readonly DiffLine[], is: 'gone' | 'new'): string[] =>
  lines.flatMap((line) => {
    if (line.is === 'changed')
      return [
        line.pieces
          .filter((one) => one.is === 'same' || one.is === is)
          .map(({ text }) => text)
          .join(''),
      ]
    return line.is === is || line.is === 'same' ? [line.text] : []
  })

spec('how two texts differ', (t) => {
  t('by words within a line that is mostly the same', () => {
    const { lines } = diffText(['We open at nine.', 'Bring a friend.'], ['We open at ten.', 'Bring a friend.'])
    assert.equal(lines, [
      {
        is: 'changed',
        pieces: [
          { is: 'same', text: 'We open at ' },
          { is: 'gone', text: 'nine' },
          { is: 'new', text: 'ten' },
          { is: 'same', text: '.' },
        ],
      },
      { is: 'same', text: 'Bring a friend.' },
    ])
  })
  t('by whole numbers', () => {
    const [line] = diffText(['A fixed question from €1,800 a piece'], ['A fixed question from €2,400 a piece']).lines
    assert.equal(line?.is === 'changed' && line.pieces.filter(({ is }) => is !== 'same').map(({ text }) => text), [
      '1,800',
      '2,400',
    ])
  })
  t('by signs in Chinese', () => {
    const { lines } = diffText(['每天都想拿起來用的器皿'], ['每天都想拿起來看的器皿'])
    const [line] = lines
    assert.equal(line?.is === 'changed' && line.pieces.filter(({ is }) => is !== 'same').map(({ text }) => text), [
      '用',
      '看',
    ])
  })
  t('by whole lines where they have little in common, and what stays is left out but for its neighbours', () => {
    const many = Array.from({ length: 9 }, (_, index) => `Line ${index}`)
    const { lines, gone, added } = diffText([...many, 'Salt cellar'], [...many, 'Everything must go'])
    assert.equal(lines, [
      { is: 'left', count: 8 },
      { is: 'same', text: 'Line 8' },
      { is: 'gone', text: 'Salt cellar' },
      { is: 'new', text: 'Everything must go' },
    ])
    assert.equal([gone, added], [1, 1])
    assert.equal(diffText(many, many).lines, [])
  })
  t('shows both texts whole, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a b c d', 'a b c e', 'x', 'y z', '漢字', '漢語'), { maxLength: 12 })
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { lines } = diffText(before, after)
        if (lines.some(({ is }) => is === 'left') || lines.length === 0) return
        assert.equal([shown(lines, 'gone'), shown(lines, 'new')], [before, after])
      }),
    )
  })
  t('is not compared where the two are other texts altogether', () => {
    const text = (word: string) => Array.from({ length: LINE_EDITS_MAX }, (_, index) => `${word} ${index}`)
    const diff = diffText(text('old'), text('new'))
    assert.equal([diff.isWhole, diff.gone, diff.added], [true, LINE_EDITS_MAX, LINE_EDITS_MAX])
  })
})

spec('what a reviewer must not overlook', (t) => {
  const products = sample().products ?? []
  const after = sample({
    products: [
      { ...products[0], name: 'Water jug', price: '€72' },
      ...products.slice(2),
      { name: 'Lamp', price: '€9' },
    ],
    contact: { email: 'sales@elsewhere.example', social: [], phone: '+351 22 000 00 00' },
    ctaBanner: { title: 'Buy', link: 'https://pay.evil.example/now' },
  })
  const found = changesBetween(versionOf(sample()), versionOf(after))

  t('prices, old and new, and of what', () => {
    assert.equal(
      found.prices.items.map(({ what, before, after: now }) => [what, before, now]),
      [
        ['Water jug', '€68', '€72'],
        ['Lamp', null, '€9'],
        ['Breakfast bowl', '€26', null],
      ],
    )
  })
  t('how one is reached', () => {
    const by = new Map(found.contacts.items.map(({ what, before, after: now }) => [what, [before, now]]))
    assert.equal(by.get('contact.email'), ['atelier@voss.example', 'sales@elsewhere.example'])
    assert.equal(by.get('contact.phone'), [null, '+351 22 000 00 00'])
    assert.equal(by.get('contact.social.0.url'), ['https://instagram.example/voss', null])
  })
  t('links to hosts that nothing led to before stand first, and say where', () => {
    const [first] = found.links.items
    assert.equal([first?.is, first?.host, first?.isHost, first?.pages], ['new', 'pay.evil.example', true, ['/']])
    const gone = found.links.items.filter(({ is }) => is === 'gone').map(({ host }) => host)
    assert.ok(gone.includes('pinterest.example'))
    assert.ok(found.links.items.some(({ is, host, isHost }) => is === 'new' && host === 'mailto:' && !isHost))
    assert.equal(found.loads, { items: [], left: 0 })
  })
  t('what machines read', () => {
    const whats = found.heads.items.map(({ what, after: now }) => `${what} = ${now}`)
    assert.ok(
      whats.some((one) => one.includes('€72') || one.includes('= 72')),
      whats.join('\n'),
    )
  })
  t('nothing where nothing changed, and all of it where nothing was', () => {
    const same = changesBetween(versionOf(sample()), versionOf(sample()))
    assert.ok(Object.values(same).every(({ items }) => items.length === 0))
    const first = changesBetween(NO_VERSION, versionOf(sample()))
    assert.ok(first.prices.items.every(({ before }) => before === null) && first.prices.items.length > 6)
  })
  t('a finding has its page, where it stands on one', () => {
    const { meta } = sample()
    const pages = [
      { slug: '', title: 'Home', sections: ['hero', 'gallery'] },
      { slug: 'shop', title: 'Shop', sections: ['products', 'contact'] },
    ] as const
    const content = sample({
      meta: { ...meta, pages: pages.map((page) => ({ ...page, sections: [...page.sections] })) },
    })
    const at = (pointer: string) => pageOfPointer(content, pointer)
    assert.equal(
      [
        at('/content/products/3/alt'),
        at('/content/gallery/0'),
        at('/content/meta/pages/1/slug'),
        at('shop/index.html'),
      ],
      ['shop/index.html', 'index.html', 'shop/index.html', 'shop/index.html'],
    )
    assert.equal([at('/brand_tokens/accent'), at('/content/translations/0'), at('')], [null, null, null])
  })
})

const at = (iso: string) => new Date(iso)
/** A Friday. */
const FRIDAY = '2026-11-20T16:00:00.000Z'

spec('the rounds of a review, and who is told of them', (t) => {
  const facts = {
    submissions: [submission(1, 'd1'), submission(4, 'd2'), submission(7, 'd3')],
    decisions: [decision(2, 1), decision(6, 4, 'request_changes')],
    openings: [{ at: FRIDAY, submission: 4, by: 'reviewer' }],
  }
  t('are held against the last approval, or against the round before', () => {
    const rounds = roundsOf(facts)
    assert.equal(
      rounds.map(({ round, decision: word, openings }) => [round, word?.decision ?? null, openings.length]),
      [
        [1, 'approve', 0],
        [2, 'request_changes', 1],
        [3, null, 0],
      ],
    )
    const base = (seq: number, of: 'approved' | 'round') => baseOf(rounds, submission(seq), of)?.digest ?? null
    assert.equal(
      [base(7, 'approved'), base(7, 'round'), base(4, 'approved'), base(1, 'round')],
      ['d1', 'd2', 'd1', null],
    )
  })
  t('count working days, so that nobody is reminded of a weekend', () => {
    const stage = (now: string) => stageAt(FRIDAY, at(now))
    assert.equal([stage(FRIDAY), stage('2026-11-22T23:00:00Z'), stage('2026-11-23T15:59:59Z')], [0, 0, 0])
    assert.equal(
      [stage('2026-11-23T16:00:00Z'), stage('2026-11-25T15:00:00Z'), stage('2026-11-25T16:00:00Z')],
      [1, 1, 2],
    )
    assert.is(stageAt('2026-11-21T10:00:00Z', at('2026-11-23T10:00:00Z')), 1)
  })
  t('are told of once at each stage, and of several that are due the last alone', () => {
    const open = { submissions: [{ ...submission(3), at: FRIDAY }], decisions: [] }
    const due = (now: string, ...stages: number[]) =>
      dueNotice({ ...open, notices: stages.map((stage) => ({ submission: 3, stage })) }, at(now))?.stage ?? null
    assert.equal(
      [due(FRIDAY), due(FRIDAY, 0), due('2026-11-24T00:00:00Z', 0), due('2026-11-24T00:00:00Z', 0, 1)],
      [0, null, 1, null],
    )
    assert.equal([due('2026-12-24T00:00:00Z', 0), due('2026-12-24T00:00:00Z', 2)], [2, null])
    const decided = { ...open, decisions: [decision(4, 3)], notices: [] }
    assert.is(dueNotice(decided, at('2026-12-24T00:00:00Z')), null)
    const other = { ...open, notices: [{ submission: 1, stage: 2 }] }
    assert.is(dueNotice(other, at(FRIDAY))?.stage, 0, 'another round is told of anew')
  })
  t('are told before anything else is done, and the fact that follows ends it', () => {
    const object = site({ submit: true })
    const of = { ...homed(object), submissions: [submission(1)] }
    const notice = { submission: 1, stage: 0, since: FRIDAY }
    assert.equal(planSite(object, { ...of, dueNotice: notice }).steps, [{ do: 'tellReviewers', notice }])
    assert.equal(planSite(object, of).steps, [])
    const body = { submission: 1, stage: 0 }
    const fact: SiteFact = { seq: 2, key: 'u/notice:1:0', kind: 'notice', body, state: 'accepted', at: FRIDAY }
    assert.equal(readFacts('u', [fact], () => null).notices, [body])
    assert.equal(readFacts('another-life', [fact], () => null).notices, [])
  })
})

spec('the certificate of an approval', (t) => {
  const facts = {
    submissions: [submission(1, 'd1', 'n'), submission(3, 'd2')],
    decisions: [decision(2, 1), decision(4, 3, 'request_changes')],
  }
  const files = [{ path: 'index.html', sha256: 'a'.repeat(64), bytes: 3, contentType: 'text/html' }]
  t('is of what was approved alone, under whichever hostname', () => {
    const found = (digest: string, neutral = `n-${digest}`) =>
      approvalFor(facts, { digest, neutral })?.submission.digest ?? null
    assert.equal([found('d1', 'n'), found('d9', 'n'), found('d2'), found('d8')], ['d1', 'd1', null, null])
  })
  t('says which bytes, when and by whom under a pseudonym, and not the note', () => {
    const approval = approvalFor(facts, { digest: 'd9', neutral: 'n' })
    if (!approval) throw new Error('it was approved')
    const secret = { ...approval, decision: { ...approval.decision, note: 'between us' } }
    const of = {
      issuer: 'https://b.test',
      site: 'site-1',
      digest: 'd9',
      reviewer: reviewerName(Buffer.alloc(32), 'reviewer'),
    }
    const certificate = certificateOf(of, secret, files)
    assert.equal([certificate.digest, certificate.submitted.digest, certificate.files.length], ['d9', 'd1', 1])
    assert.match(certificate.approved.by, /^reviewer-[0-9a-f]{16}$/)
    assert.not.match(JSON.stringify(certificate), /between us|text\/html/)
    assert.is(certificatePathOf('site-1', 'd9'), '/certificates/site-1/d9')
  })
})

spec('the mails of a review', (t) => {
  const about = { to: 'x@y.test', site: 'site-1', company: 'Voss Ceramics' }
  const waits = (stage: number, change: object = {}) =>
    reviewWaitsMail(
      { mail: 'review-waits', ...about, account: 'demo', stage, since: FRIDAY, round: 1, ...change },
      'https://b.test',
    )
  t('say what waits, since when, and lead to it without a link that opens something', () => {
    const { subject, text } = waits(0)
    assert.is(subject, 'Waits for review: Voss Ceramics')
    assert.match(text, /site-1 of account demo\) was submitted for the first time on 2026-11-20 16:00 UTC/)
    assert.match(text, /https:\/\/b\.test\/review\/sites\/site-1\n/)
    assert.match(waits(2, { round: 3 }).text, /again \(round 3\)[\s\S]*Nobody has decided on it for 3 working days/)
    assert.is(waits(1).subject, 'Still waits for review: Voss Ceramics')
  })
  t('tell the owner what was decided, with the note', () => {
    const mail = (word: 'approve' | 'request_changes', note: string) =>
      reviewDecidedMail({ mail: 'review-decided', ...about, decision: word, note }, 'https://b.test')
    assert.is(mail('approve', '').subject, 'Approved: Voss Ceramics')
    const { subject, text } = mail('request_changes', 'The hero says nothing.\n\nAnd the jug is €72 twice.')
    assert.is(subject, 'Changes requested: Voss Ceramics')
    assert.match(text, /The hero says nothing\.\n\nAnd the jug is €72 twice\./)
    assert.match(text, /https:\/\/b\.test\/account\/reviews\/site-1\n/)
  })
  t('hold hostile words as words', () => {
    for (const [, payload] of HOSTILE) {
      const { subject, html } = waits(0, { company: payload })
      assert.not.match(subject, /[\r\n]/)
      const decided = reviewDecidedMail(
        { mail: 'review-decided', ...about, company: payload, decision: 'approve', note: payload },
        'https://b.test',
      )
      for (const one of [html, decided.html]) assert.not.ok(/<(?:script|img|svg|iframe)\b/i.test(one), payload)
    }
  })
})
