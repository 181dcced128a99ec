/** Forms that content decides: the hours of a week, badges, sizes; and each section in more than one, in every layout. */
import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { type Content, content, type SectionId, type SectionKey } from '../../../../crds/site/content/content.ts'
import { contentOf } from '../../../../crds/site/content/expand.ts'
import { contentFaults } from '../../../../crds/site/content/faults/content.ts'
import { LANGS, LAYOUTS, SECTIONS, TEMPLATES } from '../../../../crds/site/content/meta.ts'
import { badgesForm, hoursForm, sizesForm } from '../../../../crds/site/render/choose/few.ts'
import type { RenderedImage } from '../../../../crds/site/render/input.ts'
import { daysOf, weekDays, weekOf } from '../../../../crds/site/render/matter/place.ts'
import { SIGNS } from '../../../../crds/site/render/signs.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import { escapeHtml } from '../../../../crds/text/html.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

type Hours = NonNullable<Content['hours']>
type Opening = NonNullable<Hours['weekly']>[number]
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'] as const
const WEEK = [...WEEKDAYS, 'sat', 'sun'] as const
const open = (days: Opening['days'], opens: string, closes: string, note?: string): Opening => ({
  days,
  opens,
  closes,
  ...(note !== undefined && { note }),
})

const imageOf = (width: number, height: number, sha: string): RenderedImage => ({
  width,
  height,
  dominant: '#a0b0c0',
  variants: [{ format: 'jpeg', width, height, sha256: sha.repeat(64), bytes: 20_000 }],
})
const IMAGES = { flat: imageOf(1500, 1000, 'a'), tall: imageOf(900, 1350, 'b') }

type Layout = Content['meta']['layout']
/** A text of the site that is made of a content, by how its path ends. */
const fileOf = (value: object, ending: string): string => {
  const made = contentOf({ content: withDefaults(content, { meta: { companyName: 'Voss' }, ...value }) })
  assert.equal(contentFaults(made), [])
  const { files } = renderSite({
    content: made,
    images: IMAGES,
    logo: null,
    fonts: {},
    template: made.meta.template,
    brand: null,
    hostname: null,
  })
  const text = files.find(({ path }) => path.endsWith(ending))?.content
  if (typeof text !== 'string') throw new Error(`there is no text at ${ending}`)
  return text
}
const sheetOf = (value: object): string => fileOf(value, '.css')
const pageOf = (value: object, layout: Layout = 'classic', lang: Content['meta']['lang'] = 'en'): string =>
  fileOf({ meta: { companyName: 'Voss', layout, lang }, ...value }, 'index.html')

const many = <T>(count: number, of: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => of(at))
const sectionOf = (page: string, section: SectionId): string =>
  new RegExp(`<section id="${section}".*?</section>`, 's').exec(page)?.[0] ?? ''
/** What is read of a piece of markup. */
const wordsOf = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
const formIn = (markup: string): string | undefined => / f-(\w+) /.exec(markup)?.[1]

const ALIKE: Hours = { weekly: [open([...WEEKDAYS], '09:00', '18:00'), { days: ['sat', 'sun'] }], note: 'Ring first' }
const FEW: Hours = {
  weekly: [open([...WEEKDAYS], '09:00', '20:00'), open(['sat'], '10:00', '14:00'), { days: ['sun'] }],
  exceptions: [{ from: '2026-12-24', note: 'Christmas' }],
}
const SPLIT: Hours = {
  weekly: [
    open(['thu', 'fri', 'sat'], '20:30', '23:00', 'Kitchen until 22:30'),
    open(['thu', 'fri', 'sat'], '13:00', '16:00'),
    open(['sun'], '13:00', '16:30'),
    open(['wed'], '19:00', '23:00'),
    open(['tue'], '12:00', '22:00'),
    { days: ['mon'] },
  ],
  note: 'Closed in August',
}

spec('the hours of a week', (t) => {
  const { en } = SIGNS
  t('are said once for all days that are alike, however they were sent', () => {
    const apart = { weekly: [...WEEKDAYS].reverse().map((day) => open([day], '09:00', '17:00')) }
    assert.equal(
      weekOf(apart, en).map(({ title, lines }) => [title, lines]),
      [['Mon–Fri', ['09:00–17:00']]],
    )
    const overlapping = {
      weekly: [open([...WEEKDAYS], '09:00', '12:00'), open(['mon', 'tue', 'thu'], '14:00', '18:00')],
    }
    assert.equal(
      weekOf(overlapping, en).map(({ title, lines }) => `${title} ${lines.join(' ')}`),
      ['Mon, Tue, Thu 09:00–12:00 14:00–18:00', 'Wed, Fri 09:00–12:00'],
    )
  })
  t('stand in the order of the day, and of the week', () => {
    const days = weekDays(SPLIT)
    assert.equal(
      days.map(({ day }) => day),
      [...WEEK],
    )
    assert.equal(
      days.find(({ day }) => day === 'thu')?.spans.map(({ opens }) => opens),
      ['13:00', '20:30'],
    )
  })
  t('are daily in every language where all days are alike', () => {
    const DAILY = { en: 'Every day', es: 'todos los días', 'zh-Hans': '每天', 'zh-Hant': '每天' }
    for (const lang of LANGS) assert.is(daysOf([...WEEK], SIGNS[lang]), DAILY[lang])
  })
  const CASES: [said: string, hours: Hours, form: string][] = [
    ['one kind of day and closed ones are a sentence', ALIKE, 'spoken'],
    ['every day alike is a sentence', { weekly: [open([...WEEK], '08:00', '20:00')] }, 'spoken'],
    ['nothing but words are a sentence', { note: 'By appointment' }, 'spoken'],
    ['a few kinds of days are lines', FEW, 'facts'],
    ['nothing but dates are lines', { exceptions: [{ from: '2026-12-24' }] }, 'facts'],
    ['days with a pause are a table by the day', SPLIT, 'week'],
    [
      'days that follow no rule are a table by the day',
      { weekly: WEEKDAYS.map((day, at) => open([day], `0${at + 4}:00`, '18:00')) },
      'week',
    ],
  ]
  for (const [said, hours, form] of CASES)
    t(`${said}, in every layout and language, with every word that was sent`, () => {
      for (const layout of LAYOUTS) {
        for (const lang of LANGS) {
          const markup = sectionOf(pageOf({ hours }, layout, lang), 'hours')
          assert.is(formIn(markup), form, layout)
          const words = wordsOf(markup)
          const sent = [
            ...(hours.weekly ?? []).flatMap(({ opens, note }) => [opens, note]),
            ...(hours.exceptions ?? []).map(({ note }) => note),
            hours.note,
          ].filter((one) => one !== undefined)
          for (const one of sent) assert.ok(words.includes(one), `${one} in ${words}`)
          assert.not.match(markup, /<div><dt>[^<]*<\/dt><\/div>/)
        }
      }
    })
  t(
    'put the hours before a pause under each other, and so those after it; one that goes through lies across both',
    () => {
      const rows = [...sectionOf(pageOf({ hours: SPLIT }), 'hours').matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
        row.replace(/<\/?span>/g, '').replace(/<\/td>\s*<td>/g, '|'),
      )
      const cells = rows.map((row) => wordsOf(row.replace('<td colspan="2">', '<td>= ')).replace(' |', '|'))
      assert.equal(cells, [
        'Mon Closed',
        'Tue = 12:00–22:00',
        'Wed|19:00–23:00',
        'Thu 13:00–16:00|20:30–23:00',
        'Fri 13:00–16:00|20:30–23:00',
        'Sat 13:00–16:00|20:30–23:00',
        'Sun 13:00–16:30|',
      ])
      assert.match(
        wordsOf(sectionOf(pageOf({ hours: SPLIT }), 'hours')),
        'Thu–Sat: Kitchen until 22:30 Closed in August',
      )
    },
  )
  t('with three openings a day keep them all', () => {
    const weekly = [open(['mon'], '08:00', '10:00'), open(['mon'], '12:00', '14:00'), open(['mon'], '18:00', '20:00')]
    const words = wordsOf(sectionOf(pageOf({ hours: { weekly } }), 'hours'))
    assert.match(words, 'Mon 08:00–10:00 12:00–14:00 18:00–20:00')
  })
  t('choose as the figures say', () => {
    const week = { kinds: 1, open: 1, paused: false, others: 0 }
    assert.is(hoursForm(week), 'spoken')
    assert.is(hoursForm({ ...week, kinds: 2, open: 2 }), 'facts')
    assert.is(hoursForm({ ...week, kinds: 5, open: 4 }), 'week')
    assert.is(hoursForm({ ...week, paused: true }), 'week')
  })
})

spec('badges', (t) => {
  const CASES: [said: string, titles: number[], pictured: number, form: string][] = [
    ['a few words are a line', [10, 12, 9], 0, 'line'],
    ['a lone picture is on a line', [10], 1, 'line'],
    ['some with a picture are a line', [10, 10, 10], 2, 'line'],
    ['all with a picture are seals', [10, 40, 9], 3, 'seals'],
    ['one that is a sentence makes them a list', [10, 31], 0, 'proofs'],
    ['more than a line holds are a list', Array(7).fill(8), 0, 'proofs'],
  ]
  for (const [said, titles, pictured, form] of CASES) t(said, () => assert.is(badgesForm(titles, pictured), form))
  t('hold a Han letter for two, as it is as wide', () => {
    const badges = [{ label: '自一九七八年起登記於臺北市商業處' }]
    assert.is(formIn(sectionOf(pageOf({ badges }, 'classic', 'zh-Hant'), 'badges')), 'proofs')
    assert.is(formIn(sectionOf(pageOf({ badges: [{ label: '公平貿易' }] }, 'classic', 'zh-Hant'), 'badges')), 'line')
  })
  t('of seven seals stand in rows of three and four, none alone', () => {
    const badges = Array.from({ length: 7 }, (_, at) => ({ label: `Prize ${at}`, image: 'asset:flat' }))
    const rows = sectionOf(pageOf({ badges }), 'badges').match(/<ul>.*?<\/ul>/gs) ?? []
    assert.equal(
      rows.map((row) => row.match(/<li>/g)?.length),
      [3, 4],
    )
  })
})

spec('sizes', (t) => {
  const table = (columns: number, rows: number, letters: number) =>
    Array.from({ length: rows + 1 }, () => Array<number>(columns).fill(letters))
  t('of one thing or two are lists of measures', () => {
    assert.is(sizesForm(table(4, 1, 5)), 'measures')
    assert.is(sizesForm(table(4, 2, 5)), 'measures')
    assert.is(sizesForm(table(2, 2, 5)), 'sizes')
  })
  t('are a table where a phone has room for it, and a block for each line where it has none', () => {
    assert.is(sizesForm(table(3, 6, 4)), 'sizes')
    assert.is(sizesForm(table(8, 6, 4)), 'stacked')
    assert.is(sizesForm(table(3, 6, 16)), 'stacked')
  })
  t('whose heads are long and whose figures are short stay a table, for heads break between their words', () => {
    const rows = many(6, (at) => ({ cells: [`${at + 49}`, '15.6', '5'] }))
    const guide = { columns: ['Circumference, mm', 'Diameter, mm', 'US'], rows }
    assert.is(formIn(sectionOf(pageOf({ sizeGuide: guide }), 'size_guide')), 'sizes')
    const han = { columns: ['内周长（毫米）', '内径（毫米）', '美码'], rows }
    assert.is(formIn(sectionOf(pageOf({ sizeGuide: han }, 'classic', 'zh-Hans'), 'size_guide')), 'sizes')
  })
  t('of too many lines for blocks stay a table that is moved sideways', () =>
    assert.is(sizesForm(table(9, 40, 4)), 'sizes'),
  )
  const guide = (columns: number, rows: number) => ({
    columns: Array.from({ length: columns }, (_, at) => `Head ${at}`),
    rows: Array.from({ length: rows }, (_, row) => ({
      cells: Array.from({ length: columns }, (_, at) => `<${row}-${at}>`),
    })),
    note: 'Laid flat',
  })
  for (const [columns, rows, form] of [
    [4, 2, 'measures'],
    [3, 5, 'sizes'],
    [9, 5, 'stacked'],
  ] as const)
    t(`of ${columns} by ${rows} are ${form} in every layout, no head and no figure lost`, () => {
      for (const layout of LAYOUTS) {
        const markup = sectionOf(pageOf({ sizeGuide: guide(columns, rows) }, layout), 'size_guide')
        assert.is(formIn(markup), form, layout)
        const words = wordsOf(markup)
        const { columns: heads, rows: lines, note } = guide(columns, rows)
        const sent = [...heads, note, ...lines.flatMap(({ cells }) => cells.map(escapeHtml))]
        assert.equal(
          sent.filter((one) => !words.includes(one)),
          [],
        )
        if (form === 'stacked') assert.is(markup.match(/ data-k="Head /g)?.length, columns * rows)
      }
    })
})

const pictures = (count: number, image = 'asset:flat') => many(count, (at) => ({ image, caption: `C${at}`, alt: 'x' }))
const LONG = 'A sentence that goes on for a while. '.repeat(9).trim()

/** Contents of a section that ask for different forms. */
const ASKING: Partial<Record<SectionKey, readonly unknown[]>> = {
  products: [
    many(3, (at) => ({ name: `A${at}`, image: 'asset:flat' })),
    many(8, (at) => ({ name: `A${at}`, price: '9 €' })),
    [{ name: 'One', image: 'asset:flat', text: LONG }],
  ],
  services: [
    many(3, (at) => ({ name: `A${at}`, image: 'asset:flat' })),
    many(7, (at) => ({ name: `A${at}`, text: LONG })),
  ],
  team: [many(2, (at) => ({ name: `A${at}`, image: 'asset:tall' })), many(7, (at) => ({ name: `A${at}` }))],
  steps: [
    many(3, (at) => ({ title: `A${at}`, image: 'asset:flat' })),
    many(7, (at) => ({ title: `A${at}`, text: LONG })),
  ],
  featureRows: [
    many(2, (at) => ({ title: `A${at}`, text: 'x', image: 'asset:flat' })),
    many(6, (at) => ({ title: `A${at}`, text: LONG })),
  ],
  gallery: [pictures(1), pictures(6), pictures(14)],
  pricing: [
    many(3, (at) => ({ name: `A${at}`, price: '9 €', features: ['x', 'y'] })),
    many(7, (at) => ({ name: `A${at}`, price: '9 €' })),
  ],
  testimonials: [[{ quote: 'Good', name: 'A' }], many(5, (at) => ({ quote: LONG, name: `A${at}` }))],
  faq: [
    many(3, (at) => ({ question: `Q${at}?`, answer: 'x' })),
    many(9, (at) => ({ question: `Q${at}?`, answer: LONG })),
  ],
  text: [
    [{ text: 'Said once.' }],
    [{ title: 'One', text: LONG.repeat(4) }],
    many(2, (at) => ({ title: `T${at}`, text: 'x' })),
  ],
  hours: [ALIKE, FEW, SPLIT],
  clients: [many(4, (at) => ({ name: `A${at}`, image: 'asset:flat' })), many(4, (at) => ({ name: `A${at}` }))],
  badges: [
    many(3, (at) => ({ label: `B${at}` })),
    many(4, (at) => ({ label: `B${at}`, image: 'asset:flat' })),
    many(9, (at) => ({ label: `B${at}` })),
  ],
  ctaBanner: [
    { title: 'Come', link: 'https://x.example/' },
    { title: 'Come', link: 'https://x.example/', image: 'asset:flat' },
    { title: 'Come', link: 'https://x.example/', image: 'asset:tall' },
  ],
  video: [
    { url: 'https://youtu.be/dQw4w9WgXcQ', title: 'Film' },
    { url: 'https://youtu.be/dQw4w9WgXcQ', title: 'Film', image: 'asset:flat' },
  ],
  sizeGuide: [
    { columns: ['A', 'B', 'C'], rows: [{ cells: ['1', '2', '3'] }] },
    { columns: ['A', 'B', 'C'], rows: many(5, () => ({ cells: ['1', '2', '3'] })) },
    { columns: many(9, (at) => `Head ${at}`), rows: many(5, () => ({ cells: many(9, (at) => `${at}`) })) },
  ],
  marquee: [{ items: ['One', 'Two'] }, { items: many(6, (at) => `Word ${at}`) }],
  contact: [{ email: 'a@b.example' }, { email: 'a@b.example', phone: '+34 900 000 000', form: true }],
}
/** Layouts in which words that run by never run. */
const STILL: readonly Layout[] = ['monolith', 'atelier', 'sidenav', 'narrative']

/** The classes and the elements that a section's matter begins with: what somebody would call its form. */
const lookOf = (markup: string): string => {
  const [, matter = ''] = /<div class="mt">(.*)/s.exec(markup) ?? []
  const classes = [...matter.matchAll(/<(\w+)[^>]*?class="([^"]*)"/g)].map(([, tag, found = '']) =>
    `${tag}.${found.replace(/\b[ahjo]?\d[\w-]*\b/g, '')}`.trim(),
  )
  return `${formIn(markup)} ${[...new Set(classes)].join(' ')}`
}

spec('each section', (t) => {
  const sections = SECTIONS.filter((section) => section !== 'hero')
  t('is asked for here', () => assert.is(Object.keys(ASKING).length, sections.length))
  for (const [key, contents] of Object.entries(ASKING))
    t(`${key} has more than one form, by its content, in every layout`, () => {
      const id = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SectionId
      for (const layout of LAYOUTS) {
        const looks = contents.map((value) => lookOf(sectionOf(pageOf({ [key]: value }, layout), id)))
        if (key === 'marquee' && STILL.includes(layout)) continue
        assert.ok(new Set(looks).size >= 2, `${layout}: ${looks.join(' | ')}`)
      }
    })
  t('of people is cards in a story of more than three, who are met side by side', () => {
    const team = (count: number) => many(count, (at) => ({ name: `A${at}`, image: 'asset:tall' }))
    assert.is(formIn(sectionOf(pageOf({ team: team(3) }, 'narrative'), 'team')), 'chapters')
    assert.is(formIn(sectionOf(pageOf({ team: team(4) }, 'narrative'), 'team')), 'cards')
  })
  t('of questions stands open beside its answers in the editorial, and is folded after another of lines', () => {
    const faq = many(4, (at) => ({ question: `Q${at}?`, answer: 'x' }))
    assert.is(formIn(sectionOf(pageOf({ faq }, 'editorial'), 'faq')), 'rows')
    const featureRows = many(3, (at) => ({ title: `A${at}`, text: 'x', image: 'asset:flat' }))
    const meta = { companyName: 'Voss', layout: 'editorial', sectionOrder: ['feature_rows', 'faq'] }
    assert.is(formIn(sectionOf(pageOf({ meta, faq, featureRows }, 'editorial'), 'faq')), 'folds')
  })
  t('of offers that compare says which one is set off', () => {
    const pricing = many(3, (at) => ({
      name: `A${at}`,
      price: '9 €',
      features: ['x'],
      ...(at === 1 && { tag: 'Best' }),
    }))
    for (const layout of LAYOUTS) assert.match(sectionOf(pageOf({ pricing }, layout), 'pricing'), '>Best<', layout)
  })
  t('of pictures leaves no hole and cuts no banner: an upright one stands beside the words', () => {
    const banner = (image: string) => ({ ctaBanner: { title: 'Come', link: 'https://x.example/', image } })
    assert.match(pageOf(banner('asset:tall')), '<div class="banner side">')
    assert.not.match(pageOf(banner('asset:flat')), 'banner side')
  })
  t('of the monolith is numbered in every template, also in one that counts for itself', () => {
    for (const template of TEMPLATES) {
      const sheet = sheetOf({ meta: { companyName: 'Voss', layout: 'monolith', template } })
      const counters = [...sheet.matchAll(/body\{counter-reset:([^}]*)\}/g)].at(-1)?.[1] ?? ''
      assert.ok(counters.split(' ').includes('part'), `${template} counts ${counters}`)
    }
  })
})
