/** A video of a site on its way to a visitor: what its page says, by which headers it is served, and what a reviewer is told of it. */
import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { content as schema } from '../../../../crds/site/content/content.ts'
import { contentOf } from '../../../../crds/site/content/expand.ts'
import { headersAt, siteManifest } from '../../../../crds/site/publishing/manifest.ts'
import { siteHandlers } from '../../../../crds/site/publishing/route.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import { wordsOfPage } from '../../../../crds/site/reviewing/words.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const YOUTUBE = 'https://www.youtube-nocookie.com'
const VIMEO = 'https://player.vimeo.com'

const rendered = (value: object = {}) => {
  const content = contentOf({
    content: withDefaults(schema, {
      meta: {
        companyName: 'Voss',
        pages: [
          { slug: '', title: 'Home', sections: ['hero', 'video'] },
          { slug: 'about', title: 'About', sections: ['text'] },
        ],
      },
      hero: { title: 'Stoneware' },
      text: [{ text: 'We fire twice.', page: 'about' }],
      video: { url: 'https://youtu.be/dQw4w9WgXcQ', title: 'A "firing" <at> night' },
      ...value,
    }),
  })
  const { files } = renderSite({
    ...{ content, images: {}, logo: null, fonts: {}, template: content.meta.template },
    ...{ brand: null, hostname: 'voss.example' },
  })
  const textAt = (path: string) => String(files.find((file) => file.path === path)?.content)
  return { content, files, textAt, manifest: siteManifest(content, files) }
}
const policyAt = ({ manifest }: ReturnType<typeof rendered>, path: string, where: 'live' | 'preview' = 'live') =>
  headersAt(manifest, where, path)['content-security-policy'] ?? ''

spec('a video on its page', (t) => {
  t('names nobody of whom a browser asks by itself, and leads to both the player and the page of the video', () => {
    const { links, loads, lines } = wordsOfPage(rendered().textAt('index.html'))
    assert.equal(loads, [])
    const urls = links.map(({ url }) => url)
    assert.ok(urls.includes(`${YOUTUBE}/embed/dQw4w9WgXcQ?autoplay=1`), 'a reviewer is told of the player')
    assert.ok(urls.includes('https://www.youtube.com/watch?v=dQw4w9WgXcQ'))
    assert.ok(lines.some((line) => line.startsWith('Plays from YouTube, which will see your visit')))
  })
  t('lets its page frame the provider, and no other page, nor anybody else', () => {
    const site = rendered()
    for (const where of ['live', 'preview'] as const) {
      assert.match(policyAt(site, 'index.html', where), new RegExp(`; frame-src ${YOUTUBE}$`))
      for (const path of ['about/index.html', '404.html', 'robots.txt', 'assets/x.css'])
        assert.not.match(policyAt(site, path, where), 'frame-src', path)
    }
    assert.match(policyAt(site, 'index.html'), "default-src 'none'; script-src 'none'; style-src 'self' 'sha256-")
    assert.match(policyAt(site, 'about/index.html'), "style-src 'self';")
    const vimeo = rendered({ video: { url: 'https://vimeo.com/76979871' } })
    assert.match(policyAt(vimeo, 'index.html'), new RegExp(`; frame-src ${VIMEO}$`))
    const none = rendered({ video: undefined })
    assert.equal([none.manifest.own, /frame-src/.test(JSON.stringify(none.manifest))], [undefined, false])
  })
  t('is served by the host with those headers at its own address, before the rest of the pages', () => {
    const pages = [
      { slug: '', title: 'Home', sections: ['hero'] },
      { slug: 'film', title: 'Film', sections: ['video'] },
    ]
    const { manifest } = rendered({ meta: { companyName: 'Voss', pages } })
    const text = JSON.stringify(siteHandlers('/srv/one', manifest))
    const [first, second] = [...text.matchAll(/frame-src [^"]*|"path":\["\/film\/"\]/g)].map(([found]) => found)
    assert.equal([first, second], ['"path":["/film/"]', `frame-src ${YOUTUBE}`])
    assert.is([...text.matchAll(/frame-src/g)].length, 1)
    assert.ok(text.indexOf('"/film/"') < text.indexOf('"not":[{"path"'))
    const before = { ...manifest }
    delete before.own
    assert.not.match(JSON.stringify(siteHandlers('/srv/one', before)), 'frame-src', 'a rendering of before')
  })
  t('of an address that is no video is a link, and frames nothing', () => {
    const { manifest, textAt } = rendered({ video: { url: 'https://videos.example/1', title: 'A firing' } })
    assert.is(manifest.own, undefined)
    assert.not.match(textAt('index.html'), '<iframe')
    assert.match(textAt('index.html'), 'href="https://videos.example/1"')
  })
  t('in two languages from two houses lets each page frame its own', () => {
    const translations = [{ lang: 'es', video: { url: 'https://vimeo.com/76979871' } }]
    const site = rendered({ translations })
    assert.match(policyAt(site, 'index.html'), new RegExp(`; frame-src ${YOUTUBE}$`))
    assert.match(policyAt(site, 'es/index.html'), new RegExp(`; frame-src ${VIMEO}$`))
  })
})
