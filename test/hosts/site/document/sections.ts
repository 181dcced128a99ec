/** "Content model sections named": each with every field that the document names. */
import { paint } from '../../../support/builders/sites/content.ts'
import { assert } from '../../../support/runner/spec.ts'
import { siteContent } from '../../../support/stage/publishing.ts'
import type { Clause } from './walk.ts'

/** Each named section with every field that the document names, and what of it a visitor reads. */
const NAMED: [says: string, content: Record<string, unknown>, read: (string | RegExp)[]][] = [
  [
    'hero: lede, chips[]',
    { hero: { title: 'T', lede: 'A lede', chips: ['Chip one', 'Chip two'] } },
    ['A lede', 'Chip one', 'Chip two'],
  ],
  [
    'products[]: name, price, link, specs[], price_was, options[], tag ribbons, collection grouping',
    {
      products: [
        {
          name: 'Jug',
          price: '€68',
          price_was: '€82',
          link: 'https://shop.test/jug',
          specs: ['Holds: 1.2 l'],
          options: [{ name: 'Glaze', values: ['Salt', 'Iron'] }],
          tag: 'Last pieces',
          collection: 'For the table',
        },
        { name: 'Vase', price: '€31', collection: 'For the sill' },
      ],
    },
    [
      'Jug',
      '€68',
      '€82',
      'https://shop.test/jug',
      '1.2 l',
      'Glaze',
      'Iron',
      'Last pieces',
      'For the table',
      'For the sill',
    ],
  ],
  [
    'testimonials[]: quote, name, role',
    { testimonials: [{ quote: 'It pours', name: 'Ines', role: 'Porto' }] },
    ['It pours', 'Ines', 'Porto'],
  ],
  [
    'contact: email, website_url, chat (floating chat button plus per-product ask links), social[]',
    {
      contact: {
        email: 'hello@voss.test',
        website_url: 'https://journal.voss.test/',
        chat: 'https://wa.me/351220000000',
        social: [{ platform: 'Instagram', url: 'https://instagram.test/voss' }],
      },
    },
    [
      'https://journal.voss.test/',
      'Instagram',
      /class="[^"]*docked"/,
      /class="ask" href="https:\/\/wa\.me\/351220000000\?text=/,
    ],
  ],
  [
    'gallery[] (with links)',
    { gallery: [{ image: 'asset:one', caption: 'Kiln', alt: 'A kiln', link: 'https://voss.test/kiln' }] },
    ['https://voss.test/kiln', 'A kiln', 'Kiln'],
  ],
  [
    'pricing[] (tiers)',
    { pricing: [{ name: 'One evening', price: '€45', features: ['Two hours'], cta: 'Reserve' }] },
    ['One evening', '€45', 'Two hours', 'Reserve'],
  ],
  ['clients[] (logo wall)', { clients: [{ name: 'Taberna do Largo', image: 'asset:one' }] }, ['Taberna do Largo']],
  [
    'cta_banner (link)',
    { cta_banner: { title: 'Come by', link: 'https://voss.test/visit' } },
    ['Come by', 'https://voss.test/visit'],
  ],
  [
    'feature_rows[]',
    { feature_rows: [{ title: 'Local clay', text: 'From near by.' }] },
    ['Local clay', 'From near by.'],
  ],
  ['badges[]', { badges: [{ label: 'Lead-free' }] }, ['Lead-free']],
  [
    'announcement (bar, countdown)',
    { announcement: { text: 'Sale ends', countdown: '2031-12-20T18:00:00Z' } },
    ['Sale ends', '2031-12-20'],
  ],
  ['marquee ticker', { marquee: { items: ['Since 1978'] } }, ['Since 1978']],
  ['size_guide', { size_guide: { columns: ['Size', 'Bust'], rows: [{ cells: ['S', '84'] }] } }, ['Bust', '84']],
]

export const SECTION_CLAUSES: Clause[] = NAMED.map(([says, content, read]) => ({
  part: 'Resources and their fields',
  says: `A site has the section ${says}`,
  rules: ['content', 'forms', ...(says.startsWith('announcement') ? ['announcement'] : [])],
  over: 'both',
  async walk(w) {
    const one = (await paint(3, 900, 600)).toString('base64')
    const pictured = JSON.stringify(content).includes('asset:one')
    const sent = { content: siteContent(content), ...(pictured && { assets: { one } }) }
    await w.eachWay(sent, async (site, way) => {
      const page = await w.page(site)
      for (const words of read) {
        if (words instanceof RegExp) assert.match(page, words, way)
        else assert.ok(page.includes(words), `${way}: ${words}`)
      }
    })
  },
}))
