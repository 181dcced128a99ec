import { withDefaults } from '../../../../crds/kernel/schema.ts'
import { type Content, content as contentSchema } from '../../../../crds/site/content/content.ts'
import { contentOf } from '../../../../crds/site/content/expand.ts'
import { contentFaults } from '../../../../crds/site/content/faults/content.ts'
import { type PathRedirect, REDIRECTS_PATH, redirectFaults, waysTo } from '../../../../crds/site/content/redirects.ts'
import { siteManifest } from '../../../../crds/site/publishing/manifest.ts'
import { siteHandlers } from '../../../../crds/site/publishing/route.ts'
import { digestOf } from '../../../../crds/site/render/digest.ts'
import { renderSite } from '../../../../crds/site/render/site.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const led = (...pairs: [from: string, to: string][]): PathRedirect[] => pairs.map(([from, to]) => ({ from, to }))
const made = (redirects: PathRedirect[]): Content =>
  contentOf({
    content: withDefaults(contentSchema, { meta: { companyName: 'Voss', redirects }, hero: { title: 'T' } }),
  })
const rendered = (list: PathRedirect[]) => {
  const content = made(list)
  const input = {
    content,
    images: {},
    logo: null,
    fonts: {},
    template: 'studio',
    brand: null,
    hostname: 'voss.example',
  }
  return renderSite(input as Parameters<typeof renderSite>[0]).files
}
const faults = (list: PathRedirect[]) =>
  redirectFaults(list, { slugs: ['', 'about'], at: '/meta/redirects' }).map(
    ({ pointer, detail }) => `${pointer} ${detail}`,
  )

spec('the list of redirects of a site', (t) => {
  const REFUSED: [say: string, list: PathRedirect[], why: RegExp][] = [
    ['the same twice', led(['/a', '/b'], ['/a/', '/c']), /^\/meta\/redirects\/1\/from .*elsewhere already/],
    ['a page', led(['/about/', '/b']), /\/0\/from .*is a page/],
    ['the index', led(['/', '/b']), /is a page/],
    ['an asset', led(['/assets/x', '/b']), /the site itself needs/],
    ['the list itself', led(['/redirects.json', '/b']), /the site itself needs/],
    ['the statement', led(['/.well-known/bottega-site.json', '/b']), /the site itself needs/],
    ['itself', led(['/a', '/a/']), /\/0\/to .*leads back to itself/],
    ['a loop of two', led(['/a', '/b'], ['/b', '/a']), /\/0\/to .*back to itself/],
    ['another site by two slashes', led(['/a', '//evil.example']), /lead to another site/],
    ['from two slashes', led(['//a', '/b']), /two slashes/],
    ['what is no address', led(['/a', 'https://']), /is no address/],
  ]
  for (const [say, list, why] of REFUSED) {
    t(`refuses ${say}`, () => assert.match(faults(list).join('\n'), why))
  }

  t('finds every loop, and nothing in what ends', () => {
    const ring = Array.from({ length: 100 }, (_, n): [string, string] => [`/r${n}`, `/r${(n + 1) % 100}`])
    assert.is(faults(led(...ring)).length, 100)
    assert.equal(faults(led(...ring.slice(0, 99))), [])
    // What leads into a loop of others is no part of it, and these are refused.
    assert.equal(
      faults(led(['/x', '/a'], ['/a', '/b'], ['/b', '/a'])).map((one) => one.slice(0, 20)),
      ['/meta/redirects/1/to', '/meta/redirects/2/to'],
    )
    assert.equal(faults(led(['/über-uns', '/about/'], ['/shop', 'https://shop.example/?a=b'])), [])
  })

  t('is refused with the content, by the name of its field', () => {
    const content = { meta: { companyName: 'V', redirects: led(['/a', '/a']) }, hero: { title: 'T' } } as never
    assert.equal(
      contentFaults(content, '/content').map(({ code, pointer }) => [code, pointer]),
      [['BAD_REDIRECTS', '/content/meta/redirects/0/to']],
    )
  })

  t('is part of the bytes that are approved, and of what the proxy serves where no file lies', () => {
    const [before, after] = [rendered([]), rendered(led(['/old/', '/about/']))]
    const file = after.find(({ path }) => path === REDIRECTS_PATH)
    assert.match(String(file?.content), /"from": "\/old\/"/)
    assert.equal(
      before,
      after.filter(({ path }) => path !== REDIRECTS_PATH),
      'nothing else changes',
    )
    assert.is.not(digestOf(before), digestOf(after))
    const manifest = siteManifest(made(led(['/old/', '/about/'])), after)
    const text = JSON.stringify(siteHandlers('/srv/one', manifest))
    assert.match(
      text,
      /"path":\["\/old","\/old\/"\]\}\],"handle":\[\{"handler":"static_response","status_code":"308","headers":\{"Location":\["\/about\/"\]/,
    )
    const [former, missing] = [text.indexOf('"/old"'), text.indexOf('"rewrite"')]
    assert.ok(former > text.indexOf('"index_names":["index.html"]'), 'after the files, so that a page wins')
    assert.ok(former < missing, 'before what is not found')
    assert.equal(waysTo('/a/'), ['/a', '/a/'])
  })
})
