/** Chinese typefaces: which characters are asked for, in which face, under which name, and what is sent of them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Content, SiteLang } from '../../../../crds/site/content/content.ts'
import { headlineOf } from '../../../../crds/site/render/choose/headline.ts'
import type { BlobRef, SiteFile, SiteInput } from '../../../../crds/site/render/input.ts'
import { assetPath } from '../../../../crds/site/render/page/picture.ts'
import { hanCutsOf, renderSite } from '../../../../crds/site/render/site.ts'
import { PAIRS } from '../../../../crds/site/render/type/faces.ts'
import { cutsOf, faceName, HAN_BUDGET, HAN_LETTERS_MAX, type HanCut } from '../../../../crds/site/render/type/han.ts'
import {
  addLetters,
  HEAD_CLASSES,
  HEAD_TAGS,
  isHanLetter,
  noLetters,
  STRONG_CLASSES,
  STRONG_TAGS,
} from '../../../../crds/site/render/type/letters.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { root } from '../../../support/structure/tree.ts'

const contentOf = (lang: SiteLang, more: Partial<Content> = {}): Content => ({
  meta: { companyName: '山間陶房', lang, layout: 'classic', template: 'lumen' },
  hero: { title: '每天都想拿起來用的器皿', lede: '每一件都在這裡燒成。' },
  products: [{ name: '水壺', price: 'NT$2,380' }],
  contact: { email: 'a@b.example' },
  ...more,
})
const inputOf = (content: Content, more: Partial<SiteInput> = {}): SiteInput => ({
  content,
  images: {},
  logo: null,
  fonts: {},
  template: content.meta.template,
  brand: null,
  hostname: 'shan.example',
  ...more,
})
const sum = (index: number): string => index.toString(16).padEnd(64, '0')
const blobsFor = (cuts: readonly HanCut[], bytes: (cut: HanCut) => number): Record<string, BlobRef> =>
  Object.fromEntries(cuts.map((cut, index) => [cut.key, { sha256: sum(index + 1), bytes: bytes(cut) }]))
const sheetOf = (files: readonly SiteFile[]): string => {
  const found = files.find(({ path }) => path.endsWith('.css'))?.content
  return typeof found === 'string' ? found : ''
}
const lettersOf = (markup: string) => {
  const letters = noLetters()
  addLetters(letters, markup)
  return Object.fromEntries(Object.entries(letters).map(([voice, own]) => [voice, [...own].join('')]))
}

/** Rules of every style sheet of sites: selectors, and what they say. */
const rules = globSync('crds/site/render/**/*.ts', { cwd: root })
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .flatMap((text) => [...text.matchAll(/([^{}`\n$]+)\{([^{}]*)\}/g)])
  .map(([, selectors = '', said = '']) => ({ selectors, said }))

/** Each selector of a rule; what is drawn before or after an element is ours. */
const selectorsOf = (list: string): string[] =>
  list
    .replace(/\([^)]*\)/g, '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => !/::?(?:before|after)/.test(one))

/** Whether what a selector names, or stands in, is looked for: `.run ul` is. */
const covered = (selector: string, tags: ReadonlySet<string>, classes: ReadonlySet<string>): boolean =>
  selector.split(/[\s>+~]+/).some((part) => {
    const plain = part.replace(/:[\w-]+(\([^)]*\))?/g, '').replace(/\[[^\]]*\]/g, '')
    const [tag = '', ...named] = plain.split('.')
    return tags.has(tag) || named.some((one) => classes.has(one))
  })

spec('Chinese typefaces of a site', (t) => {
  t('are read out of the markup by voice, and what a heading says is in the text’s face too', () => {
    const markup =
      '<h1 class="st5">標題<br>二</h1><p class="lede">內文 text <img alt="不" src="x">後</p><a class="button" href="#">按</a>' +
      '<blockquote><p>引</p></blockquote><p>尾</p>'
    const { head, strong, text } = lettersOf(markup)
    assert.equal([head, strong, text], ['標題二引', '按', '標題二內文後按引尾'])
    assert.equal(lettersOf('<p>Only Latin, 1,280 €</p>'), { head: '', strong: '', text: '' })
    // of a table that compares in the head face, of days and sizes in bold
    const { head: named, strong: day } = lettersOf('<th scope="row">週一</th>')
    assert.equal([named, day], ['週一', '週一'])
  })

  t('have quotes, dashes and dots of their own, and no Latin letter', () => {
    for (const letter of '“”—…「，。！①壺𠮷ぁ') assert.ok(isHanLetter(letter), letter)
    for (const letter of 'aé€·’–0 ') assert.not(isHanLetter(letter), letter)
  })

  t('are asked for wherever a style sheet sets the head face or bold', () => {
    const heads = rules.filter(({ said }) => said.includes('var(--head)'))
    assert.ok(heads.length > 15, String(heads.length))
    // a style sheet of its own, without fonts; Chinese has no such lede
    const others = /^(h1|\.lede:not\)?)$/
    const missing = heads
      .flatMap(({ selectors }) => selectorsOf(selectors))
      .filter((one) => !others.test(one) && !covered(one, HEAD_TAGS, HEAD_CLASSES))
    assert.equal(missing, [])
    const bold = rules
      .filter(({ said }) => /font-weight:[67]00/.test(said))
      .flatMap(({ selectors }) => selectorsOf(selectors))
      .filter((one) => !covered(one, STRONG_TAGS, STRONG_CLASSES) && !covered(one, HEAD_TAGS, HEAD_CLASSES))
      // links of a navigation and of a dock stand in `nav` or are called chat; names of languages are in their own
      .filter((one) => !/\[aria-current\]$|^\.dock a$/.test(one))
    assert.equal(bold, [])
  })

  t('are a serif for headings in serif templates, one sans in two voices where a weight serves both', () => {
    const letters = noLetters()
    addLetters(letters, '<h1>標</h1><p><b class="tag">粗</b>文</p>')
    const named = (pair: keyof typeof PAIRS, lang: 'zh-Hant' | 'zh-Hans') =>
      cutsOf(PAIRS[pair], lang, letters).map(({ face, voices }) => `${faceName(face)} ${voices.join('+')}`)
    assert.equal(named('cormorant-jost', 'zh-Hant'), [
      'noto-serif-tc-300 head',
      'noto-sans-tc-700 strong',
      'noto-sans-tc-400 text',
    ])
    assert.equal(named('red-hat', 'zh-Hans'), ['noto-sans-sc-700 head+strong', 'noto-sans-sc-400 text'])
    assert.equal(named('archivo', 'zh-Hans'), [
      'noto-sans-sc-900 head',
      'noto-sans-sc-700 strong',
      'noto-sans-sc-400 text',
    ])
    assert.equal(named('system', 'zh-Hans'), [])
  })

  t('are called by face and characters: the order of words and an edit in known characters ask for nothing new', () => {
    const keys = (content: Content) => hanCutsOf(inputOf(content)).map(({ key }) => key)
    const before = keys(contentOf('zh-Hant', { faq: [{ question: '一二三', answer: '四五六' }] }))
    assert.equal(keys(contentOf('zh-Hant', { faq: [{ question: '三二一', answer: '六五五四' }] })), before)
    const other = keys(contentOf('zh-Hant', { faq: [{ question: '一二三', answer: '四五六七' }] }))
    assert.equal(
      other.map((key, place) => key === before[place]),
      [true, true, false],
      'the headings’ face stays',
    )
    assert.ok(
      before.every((key) => /^noto-(serif|sans)-tc-\d00-[0-9a-f]{32}$/.test(key)),
      before.join(),
    )
  })

  t('are those of each language of a site, laid on that language alone; a site in Latin letters has none', () => {
    const content = contentOf('zh-Hant', { translations: [{ lang: 'zh-Hans' }, { lang: 'en' }] })
    const cuts = hanCutsOf(inputOf(content))
    assert.equal([...new Set(cuts.map(({ face }) => face.lang))], ['zh-Hant', 'zh-Hans'])
    const { files } = renderSite(inputOf(content, { han: blobsFor(cuts, () => 20_000) }))
    const sheet = sheetOf(files)
    const stack = (before: string) => new RegExp(`${before}\\{--head:([^;]*)`).exec(sheet)?.[1] ?? ''
    assert.match(
      /--head:([^;]*)/.exec(sheet)?.[1] ?? '',
      /"Han Head Marks TC".*"Cormorant.*"Han Head TC","Han Text TC"/,
    )
    assert.match(stack(':root:lang\\(zh-Hans\\)'), /"Han Head SC"/)
    assert.not.match(stack(':root:lang\\(en\\)'), /Han/)
    assert.is(files.filter(({ path }) => path.endsWith('.woff2')).length, cuts.length)
    const page = files.find(({ path }) => path === 'zh-hans/index.html')?.content
    const head = cuts.findIndex(({ face, voices }) => face.lang === 'zh-Hans' && voices.includes('head'))
    assert.ok(String(page).includes(`href="../${assetPath(sum(head + 1), 'woff2')}" crossorigin`))
    assert.equal(hanCutsOf(inputOf(contentOf('en', { hero: { title: '日本' } }))), [])
  })

  t('are asked for in Han’s own ranges alone, in any weight, and never slanted or thickened', () => {
    const content = contentOf('zh-Hans')
    const input = inputOf(content, { han: blobsFor(hanCutsOf(inputOf(content)), () => 20_000) })
    const sheet = sheetOf(renderSite(input).files)
    const faces = [
      ...sheet.matchAll(/@font-face\{font-family:"Han ([^"]+)";font-weight:([^;]+);[^}]*unicode-range:([^}]+)/g),
    ]
    assert.equal(
      faces.map(([, name, weights]) => `${name} ${weights}`),
      [
        'Head SC 100 900',
        'Head Marks SC 100 900',
        'Text SC 100 599',
        'Marks SC 100 900',
        'Text SC 600 900',
        'All SC 100 900',
      ],
    )
    for (const [, , , range = ''] of faces) assert.not.match(range, /U\+00|U\+20AC/)
    assert.match(sheet, /:lang\(zh\)\{[^}]*font-synthesis:none/)
  })

  t(
    'over their budget leave the text to the system, then the headings too, with a warning that says what it was',
    () => {
      const content = contentOf('zh-Hans')
      const cuts = hanCutsOf(inputOf(content))
      const sent = (bytes: (cut: HanCut) => number) => {
        const { files, warnings } = renderSite(inputOf(content, { han: blobsFor(cuts, bytes) }))
        return { fonts: files.filter(({ path }) => path.endsWith('.woff2')).length, sheet: sheetOf(files), warnings }
      }
      const heavy = sent(({ voices }) => (voices.includes('text') ? HAN_BUDGET : 10_000))
      assert.equal([heavy.fonts, /"Han Text/.test(heavy.sheet)], [1, false])
      const [warning] = heavy.warnings.filter(({ code }) => code === 'OVER_BUDGET')
      assert.equal([warning?.pointer, warning?.detail.includes(String(HAN_BUDGET + 20_000))], ['index.html', true])
      assert.equal(sent(() => HAN_BUDGET + 1).fonts, 0)
      const light = sent(() => HAN_BUDGET / 3)
      assert.equal([light.fonts, light.warnings.filter(({ code }) => code === 'OVER_BUDGET')], [3, []])
    },
  )

  t(
    'stand in headlines that break between phrases where each fits its line, and are balanced where there is one',
    () => {
      const breaks = (text: string, top: number) => headlineOf(text, top).phrases
      assert.equal(breaks('霧散之前，先喝一杯', 5), 'any')
      assert.equal(breaks('把家裡的保單看懂，再談要不要加', 5), 'wide', 'nine with the sign are wider than a phone')
      assert.equal(breaks('每天都想拿起來用的器皿', 5), null)
      assert.equal(breaks('在山裡做了一輩子的陶器，今天也一樣', 6), null, 'no line holds twelve')
      assert.equal(breaks('Thrown, by hand', 5), null)
    },
  )

  t('are not even cut for more characters than any could hold within the budget', () => {
    const letters = noLetters()
    const many = Array.from({ length: HAN_LETTERS_MAX + 1 }, (_, index) => String.fromCodePoint(0x4e00 + index))
    addLetters(letters, `<h1>標</h1><p>${many.join('')}</p>`)
    assert.equal(
      cutsOf(PAIRS.source, 'zh-Hant', letters).map(({ voices }) => voices),
      [['head']],
    )
  })
})
