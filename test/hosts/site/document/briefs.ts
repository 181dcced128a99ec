/** What the document says of briefs, sources and base domains: drafted, refused with each code of its table, and one account's alone. */
import { paint } from '../../../support/builders/sites/content.ts'
import { pdfOf } from '../../../support/builders/sources/upload.ts'
import { assert } from '../../../support/runner/spec.ts'
import { call, eventually, type Json, startPlatform } from '../../../support/stage/invoicing.ts'
import { approve, publish, siteContent } from '../../../support/stage/publishing.ts'
import { granted } from './errors.ts'
import { type Clause, specContent, type Walk } from './walk.ts'

const BRIEF = `Voss Ceramics
We throw stoneware bowls by hand in Leith, and glaze them in our own kiln.
A bowl is 48 EUR. Open Tuesday to Saturday, 10:00 to 18:00.
Write to hello@voss.example.com.`
const GENERATE = '/api/website/generate'
const EXTRACT = '/api/website/extract'
const BASE = '/api/website/base-domain'

/** What a file, or photos, are drafted to. */
const extracted = async (w: Walk, body: FormData | Uint8Array<ArrayBuffer>, type?: string): Promise<Json> => {
  const sent = await fetch(`${w.platform.baseUrl}${EXTRACT}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${w.platform.owner}`, ...(type && { 'content-type': type }) },
    body,
  })
  const text = await sent.text()
  assert.is(sent.status, 200, text)
  return JSON.parse(text)
}

const namesTwin = (warnings: Json[], twin: string): boolean =>
  warnings.some(({ code, detail }) => code === 'DUPLICATE_CONTENT' && detail.includes(twin))

/** A label in a spec is published below the partner's domain, too. */
const belowByKubectl = async (w: Walk, name: string): Promise<void> => {
  await w.apply(name, { account: w.account, subdomain: name, submit: true, content: specContent() })
  await eventually(`${name} to be in review`, async () => (await w.site(name))?.status === 'in_review')
  await w.sure('POST', `/api/website/${name}/decision`, { decision: 'approve' }, w.platform.reviewer)
  await w.patch('wsite', name, { publish: true })
  await eventually(`${name} to be live`, async () => (await w.site(name)).status === 'live', 60_000)
  const page = await w.platform.visit(`${name}.doc-partner.test`)
  assert.equal([page.status, page.text], [200, await w.page(await w.site(name))])
}

export const BRIEFS: Clause[] = [
  {
    part: 'Resources and their fields',
    says: 'brief, an alternative to content: the server drafts the model, renders, and echoes the draft and gap warnings',
    rules: ['drafts'],
    over: 'REST',
    async walk(w) {
      const { site, draft, warnings, replayed } = await w.sure('POST', GENERATE, { brief: BRIEF, lang: 'en' })
      assert.equal(
        [replayed, draft.meta.company_name, draft.contact.email],
        [false, 'Voss Ceramics', 'hello@voss.example.com'],
      )
      assert.ok(
        warnings.some(({ code }: { code: string }) => code === 'MISSING_ADDRESS'),
        JSON.stringify(warnings),
      )
      assert.match(await w.page(site), /glaze them in our own kiln/)
    },
  },
  {
    part: 'Endpoints',
    says: 'POST /extract: one response contract for all four inputs, a drafted content model, without creating a site',
    rules: ['drafts'],
    over: 'REST',
    async walk(w) {
      const { total } = await w.sure('GET', '/api/website')
      const photos = new FormData()
      for (const n of [1, 2]) {
        const bytes = new Uint8Array(await paint(n, 60, 40))
        photos.append('files', new Blob([bytes], { type: 'image/jpeg' }), `${n}.jpg`)
      }
      const drafts = {
        text: await w.sure('POST', EXTRACT, { text: BRIEF }),
        file: await extracted(w, new Uint8Array(Buffer.from(BRIEF)), 'text/markdown'),
        pdf: await extracted(w, new Uint8Array(await pdfOf('', BRIEF)), 'application/pdf'),
        photos: await extracted(w, photos),
      }
      for (const [input, answer] of Object.entries(drafts)) {
        assert.equal(Object.keys(answer).sort(), ['draft', 'provenance', 'warnings'], input)
        assert.ok(Array.isArray(answer.warnings) && Array.isArray(answer.provenance), input)
      }
      const { photos: seen, ...read } = drafts
      for (const [input, { draft, provenance }] of Object.entries(read)) {
        assert.equal([draft.meta.company_name, draft.contact.email], ['Voss Ceramics', 'hello@voss.example.com'], input)
        const mail = provenance.find(({ pointer }: Json) => pointer === '/contact/email')
        assert.equal(
          [mail.rests_on.quote, mail.rests_on.page],
          [draft.contact.email, input === 'pdf' ? 2 : null],
          input,
        )
      }
      assert.equal(
        seen.draft.gallery.map(({ image }: Json) => image),
        ['asset:photo-1', 'asset:photo-2'],
      )
      assert.is((await w.sure('GET', '/api/website')).total, total)
    },
  },
  {
    part: 'Errors',
    says: '400 BAD_SOURCE / BRIEF_TOO_SHORT: an invalid source, or a brief of fewer than 40 characters',
    rules: ['drafts', 'refusals'],
    over: 'REST',
    async walk(w) {
      const { total } = await w.sure('GET', '/api/website')
      await w.refuses(400, 'BRIEF_TOO_SHORT', 'POST', GENERATE, { brief: 'x'.repeat(39) })
      await w.refuses(400, 'BRIEF_TOO_LONG', 'POST', GENERATE, { brief: 'word '.repeat(4_801) })
      await w.refuses(400, 'BAD_SOURCE', 'POST', GENERATE, { brief: BRIEF, content: siteContent() })
      await w.refuses(400, 'BAD_SOURCE', 'POST', GENERATE, {})
      await w.refuses(400, 'BAD_SOURCE', 'POST', EXTRACT, { text: '. '.repeat(40) })
      assert.is((await w.sure('GET', '/api/website')).total, total, 'nothing was stored')
    },
  },
  {
    part: 'Errors',
    says: '429 ASSIST_QUOTA: the AI pool of the day is used up',
    rules: ['drafts', 'refusals'],
    over: 'REST',
    async walk(w) {
      await granted(w, { aiPerDay: 0 }, 'website_ai_per_day', 0, async (other) => {
        await w.refuses(429, 'ASSIST_QUOTA', 'POST', GENERATE, { brief: BRIEF }, other)
        await w.refuses(429, 'ASSIST_QUOTA', 'POST', EXTRACT, { text: BRIEF }, other)
      })
    },
  },
  {
    part: 'Errors',
    says: '503 LLM_NOT_CONFIGURED: drafting from a brief needs an AI of the server',
    rules: ['drafts', 'refusals'],
    over: 'REST',
    async walk(w) {
      const bare = await startPlatform()
      try {
        const reply = await call(bare.baseUrl, bare.owner, 'POST', GENERATE, { brief: BRIEF })
        assert.equal([reply.status, reply.json.code], [503, 'LLM_NOT_CONFIGURED'], reply.text)
        w.refused.add('LLM_NOT_CONFIGURED')
      } finally {
        await bare.end()
      }
    },
  },
  {
    part: 'Resources and their fields',
    says: 'Identical content across an account raises a DUPLICATE_CONTENT warning',
    rules: ['duplicates'],
    over: 'both',
    async walk(w) {
      const content = siteContent({
        hero: { title: 'The same words', lede: 'Said twice by one account, word for word.' },
      })
      const { site: first } = await w.sure('POST', GENERATE, { content })
      const { site, warnings } = await w.sure('POST', GENERATE, { content })
      assert.ok(namesTwin(warnings, first.id), JSON.stringify(warnings))
      assert.ok(namesTwin((await w.site(site.id)).warnings, first.id))
      await w.sure('DELETE', `/api/website/${site.id}`)

      const { hero, products } = content
      await w.apply('doc-twin', { account: w.account, content: specContent({ hero, products }) })
      await eventually('the twin of kubectl', async () => {
        const { status, json } = await w.ask('GET', '/api/website/doc-twin')
        return status === 200 && namesTwin(json.site.warnings, first.id)
      })
    },
  },
  {
    part: 'Endpoints',
    says: 'POST /base-domain and its verify: TXT and wildcard records to add; after it sites publish under the partner domain',
    rules: ['base-domains'],
    over: 'both',
    async walk(w) {
      const { records } = await w.sure('POST', BASE, { domain: 'doc-partner.test' })
      assert.equal(
        records.map(({ type, name }: { type: string; name: string }) => [type, name]),
        [
          ['TXT', '_bottega-challenge.doc-partner.test'],
          ['A', '*.doc-partner.test'],
        ],
      )
      assert.is((await w.sure('POST', `${BASE}/verify`, {})).verified, false)
      await w.platform.dns('set-txt', { host: `${records[0].name}.`, value: records[0].value })
      assert.is((await w.sure('POST', `${BASE}/verify`, {})).verified, true)
      const { id } = await w.make()
      const { site } = await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-below' })
      assert.is(site.domain, 'doc-below.doc-partner.test')
      await approve(w.platform, id)
      assert.is((await publish(w.platform, id)).url, `https://${site.domain}:${w.platform.host.httpsPort}/`)
      assert.equal(
        [(await w.platform.visit(site.domain)).status, (await w.platform.visit(site.domain)).text],
        [200, await w.page(await w.site(id))],
      )
      await belowByKubectl(w, 'doc-below-2')

      const other = await w.platform.token('other')
      await w.refuses(409, 'DOMAIN_TAKEN', 'POST', BASE, { domain: 'eu.doc-partner.test' }, other)
      for (const domain of ['co.uk', 'localhost', '10.0.0.1', 'a b.test', w.platform.host.baseDomain]) {
        await w.refuses(400, 'BAD_DOMAIN', 'POST', BASE, { domain }, other)
      }
      // what comes after it goes below the platform's domain again
      await w.refuses(409, 'SITE_LIVE', 'DELETE', BASE)
      for (const one of [id, 'doc-below-2']) {
        await w.sure('POST', `/api/website/${one}/unpublish`, {})
        await w.sure('DELETE', `/api/website/${one}`)
      }
      await w.sure('DELETE', BASE)
    },
  },
]
