/** Presets: a trade's words under the caller's, in four languages, the same for ever. */
import { createHash } from 'node:crypto'
import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { type Content, content as contentSchema, keyOf, type SectionId } from '../../../../crds/site/content/content.ts'
import { contentOf, type WrittenSite } from '../../../../crds/site/content/expand.ts'
import { contentWarnings, inRest, pastWarnings } from '../../../../crds/site/content/faults/gaps.ts'
import { contentIn } from '../../../../crds/site/content/languages.ts'
import { LANGS } from '../../../../crds/site/content/meta.ts'
import { PRESET_VERSION, PRESETS, presetOf } from '../../../../crds/site/content/presets/presets.ts'
import { siteFaults } from '../../../../crds/site/faults.ts'
import { wordsFor } from '../../../../crds/site/render/words.ts'
import { canonical } from '../../../../crds/values/canonical.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const written = (more: Omit<WrittenSite, 'content'>, content: object): WrittenSite => ({
  ...more,
  content: withDefaults(contentSchema, { meta: { companyName: 'Voss' }, ...content }),
})

/** Of version 1 as it was released: an approved site is made of it. Who changes a word adds a version. */
const RELEASED = '4b68210aafcddaee1b9cbcbafcc861061e1f44c41e32b904c09a22fdc004d9f0'

spec('presets', (t) => {
  t('are what they were when they were released', () => {
    const all = PRESETS.map((id) => presetOf(id, 1))
    assert.is(createHash('sha256').update(canonical(all)).digest('hex'), RELEASED)
  })
  for (const preset of PRESETS) {
    for (const lang of LANGS) {
      t(`${preset} speaks ${lang}, in its own labels and sections, and is sound`, () => {
        const site = written({ preset }, { meta: { companyName: 'Voss', lang }, hero: {}, products: [], contact: {} })
        const whole = contentOf(site)
        assert.equal(siteFaults({ content: whole, presetVersion: 1 }), [])
        const { sections = {}, actions = {} } = whole.labels ?? {}
        assert.ok(Object.values(sections).length >= 2 && Object.values(actions).length >= 1)
        const words = wordsFor(whole)
        for (const [key, label] of Object.entries(sections)) {
          const section = (whole.meta.sectionOrder ?? []).find((one) => keyOf(one) === key)
          assert.ok(section !== undefined && section !== 'hero', `${key} is a section of the preset`)
          assert.is(words.sections[section as Exclude<SectionId, 'hero'>], label)
        }
      })
    }
    t(`${preset} has words of its own in every language`, () => {
      const [first, ...others] = LANGS.map((lang) => canonical(presetOf(preset, PRESET_VERSION)?.words[lang] ?? {}))
      assert.ok(others.every((one) => one !== first))
    })
  }
  t('stand under every value of the caller', () => {
    const labels = { sections: { products: 'Tapas' }, actions: { hero: 'Ven' } }
    const site = written(
      { preset: 'restaurant' },
      { meta: { companyName: 'Voss', lang: 'es', layout: 'editorial' }, labels, contact: { text: 'Hola' } },
    )
    const whole = contentOf(site)
    const [{ sections, actions } = {}, { layout, sectionOrder }] = [whole.labels, whole.meta]
    assert.equal([sections?.products, sections?.hours, actions?.hero], ['Tapas', 'Horario', 'Ven'])
    assert.equal([layout, sectionOrder?.[1], whole.contact?.text], ['editorial', 'products', 'Hola'])
  })
  t('bring sample words, with a warning, until the caller has the section or leaves it out', () => {
    const site = (more: object) => written({ preset: 'agent' }, { meta: { companyName: 'Voss' }, ...more })
    assert.is(contentOf(site({})).steps?.length, 3)
    assert.equal(
      contentWarnings(site({})).map(({ code, pointer }) => `${code} ${pointer}`),
      ['SAMPLE_TEXT /content/steps'],
    )
    const own = site({ steps: [{ title: 'Ring' }] })
    assert.equal([contentOf(own).steps, contentWarnings(own)], [[{ title: 'Ring' }], []])
    const without = site({ meta: { companyName: 'Voss', leftOut: ['steps'] } })
    assert.equal([contentOf(without).steps, contentWarnings(without)], [undefined, []])
  })
  t('speak the second language of a site too', () => {
    const translations = [{ lang: 'es', hero: { title: 'Hola' }, labels: { actions: { contact: 'Llamar' } } }]
    const whole = contentOf(written({ preset: 'agent' }, { hero: { title: 'Hello' }, translations }))
    const spanish = contentIn(whole, 'es')
    assert.equal([spanish.hero?.title, spanish.steps?.[0]?.title, spanish.meta.lang], ['Hola', 'Hablar', 'es'])
    assert.equal(
      [wordsFor(spanish).sections.services, wordsFor(spanish).getInTouch, wordsFor(spanish).start],
      ['En qué ayudo', 'Llamar', 'Empezar con mi enlace'],
    )
    assert.is(wordsFor(contentIn(whole, 'en')).sections.services, 'What I help with')
  })
  t('change nothing of a site that has none', () => {
    const { content } = written({}, { hero: { title: 'A' } })
    assert.equal(contentOf({ content }), {
      ...content,
      meta: { ...content.meta, layout: 'classic', template: 'studio' },
    })
  })
  t('are refused in a version that there is not', () => {
    const faults = siteFaults({ ...written({ preset: 'agent' }, {}), presetVersion: 99 } as Parameters<
      typeof siteFaults
    >[0])
    assert.equal(
      faults.map(({ code, pointer }) => `${code} ${pointer}`),
      ['BAD_PRESET /presetVersion'],
    )
  })
})

spec('a content in a further language', (t) => {
  const first: Content = contentOf(
    written(
      {},
      {
        meta: {
          companyName: 'Voss',
          pages: [
            { slug: '', title: 'Home', sections: ['hero'] },
            { slug: 'jugs', title: 'Jugs', sections: ['products'] },
          ],
        },
        labels: { sections: { products: 'Jugs' } },
        hours: { note: 'By appointment' },
        products: [{ name: 'Jug', price: '€68', image: 'asset:jug', specs: ['Height: 24 cm'] }, { name: 'Bowl' }],
        translations: [
          {
            lang: 'es',
            pages: [{ title: 'Inicio' }, { title: 'Jarras' }],
            products: [{ name: 'Jarra', specs: ['Altura: 24 cm'] }, {}, { name: 'Una más' }],
            video: { title: 'Nada' },
            hours: { weekly: [{ note: 'Nada' }], note: 'Con cita' },
          },
        ],
      },
    ),
  )
  const es = contentIn(first, 'es')
  t('has its own words by place, and pictures and prices of the first', () => {
    assert.equal(es.products, [
      { name: 'Jarra', price: '€68', image: 'asset:jug', specs: ['Altura: 24 cm'] },
      { name: 'Bowl' },
    ])
    assert.equal(
      es.meta.pages?.map(({ slug, title }) => [slug, title]),
      [
        ['', 'Inicio'],
        ['jugs', 'Jarras'],
      ],
    )
  })
  t('has no section that the first does not have, and none of its labels', () => {
    assert.equal([es.video, es.labels, es.translations], [undefined, undefined, undefined])
    assert.equal(es.hours, { note: 'Con cita' })
  })
})

spec('where a warning stands', (t) => {
  const cases: [string, string][] = [
    ['/featureRows', '/content/feature_rows'],
    ['/hero/alt', '/content/hero/alt'],
    ['/brand/accent', '/brand_tokens/accent'],
    ['shop/index.html', 'shop/index.html'],
  ]
  for (const [from, to] of cases) t(`${from} is ${to}`, () => assert.is(inRest({ pointer: from }).pointer, to))
  t('what pictures do under a pointer is drawn, and nobody is warned of it', () => {
    for (const imageHover of ['none', 'zoom', 'swap']) assert.equal(contentWarnings(written({}, { imageHover })), [])
  })
  t('a countdown is told once its instant is past, and not before', () => {
    const site = written({}, { announcement: { text: 'Sale', countdown: '2026-12-24T18:00:00+01:00' } })
    const told = (now: string) => pastWarnings(site, new Date(now)).map(({ code, pointer }) => `${code} ${pointer}`)
    assert.equal(told('2026-12-24T16:59:59Z'), [])
    assert.equal(told('2026-12-24T17:00:01Z'), ['COUNTDOWN_PAST /content/announcement/countdown'])
    assert.equal(pastWarnings(written({}, { announcement: { text: 'Sale' } }), new Date()), [])
  })
  t('two slugs that differ by dashes alone are told', () => {
    const pages = ['', 'about-us', 'aboutus'].map((slug) => ({ slug, title: 'A', sections: ['hero'] }))
    const site = written({}, { meta: { companyName: 'Voss', pages } })
    assert.equal(
      contentWarnings(site).map(({ code, pointer }) => `${code} ${pointer}`),
      ['DUPLICATE_SLUG /content/meta/pages/2/slug'],
    )
  })
})
