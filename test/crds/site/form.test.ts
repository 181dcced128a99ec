/** The contact form: how it is drawn, what is taken in, and the mail that comes of it. */
import fc from 'fast-check'
import { withDefaults } from '../../../crds/kernel/schema.ts'
import { type Content, content as contentSchema } from '../../../crds/site/content/content.ts'
import { contentOf } from '../../../crds/site/content/expand.ts'
import { LANGS, LAYOUTS } from '../../../crds/site/content/meta.ts'
import { siteManifest } from '../../../crds/site/publishing/manifest.ts'
import { addressOfPage, type KeptMessage, messageMail, pageOf } from '../../../crds/site/publishing/messages/message.ts'
import { FORM_WORDS } from '../../../crds/site/publishing/messages/words.ts'
import {
  isHeld,
  postedForm,
  WRITTEN_FIELDS,
  WRITTEN_MAX,
  type WrittenWords,
  writtenFaults,
} from '../../../crds/site/publishing/messages/written.ts'
import { renderRequest } from '../../../crds/site/publishing/rendering.ts'
import { siteHandlers } from '../../../crds/site/publishing/route.ts'
import { digestOf } from '../../../crds/site/render/digest.ts'
import { renderSite } from '../../../crds/site/render/site.ts'
import { sandboxed } from '../../../crds/text/policy.ts'
import { site, world } from '../../support/builders/sites/site.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const ACTION = 'https://platform.example/s/site-one.token'
const filled = (value: object): Content =>
  contentOf({ content: withDefaults(contentSchema, { meta: { companyName: 'Voss' }, hero: {}, ...value }) })
const render = (content: Content, form: string | null, hostname: string | null = 'voss.example') =>
  renderSite({
    content,
    images: {},
    logo: null,
    fonts: {},
    template: content.meta.template,
    brand: null,
    hostname,
    form,
  }).files
const pageAt = (files: ReturnType<typeof render>, path = 'index.html') =>
  String(files.find((file) => file.path === path)?.content ?? '')
const WITH_FORM = { contact: { email: 'hello@voss.example', form: true } }

spec('a contact form on a site', (t) => {
  for (const layout of LAYOUTS) {
    for (const lang of LANGS) {
      t(`is drawn in ${layout}, ${lang}: labels tied to fields, what a browser may fill in, and the trap`, () => {
        const words = FORM_WORDS[lang]
        const page = pageAt(render(filled({ meta: { companyName: 'Voss', layout, lang }, ...WITH_FORM }), ACTION))
        const [form = ''] = /<form [\s\S]*?<\/form>/.exec(page) ?? []
        assert.match(form, `method="post" action="${ACTION}" accept-charset="utf-8"`)
        const ids = [...form.matchAll(/<(?:input|textarea) id="([^"]+)"/g)].map(([, id]) => id)
        const labelled = [...form.matchAll(/<label for="([^"]+)">/g)].map(([, id]) => id)
        assert.equal(ids, ['write-name', 'write-email', 'write-phone', 'write-message', 'write-website'])
        assert.equal(labelled, ids)
        for (const word of ['name', 'email', 'tel']) assert.match(form, `autocomplete="${word}"`)
        assert.is(form.match(/ required>/g)?.length, 3)
        for (const word of [words.title, words.name, words.message, words.privacy, words.send]) {
          assert.ok(form.includes(word), word)
        }
        assert.not.match(page, /<script(?! type="application\/ld)/)
      })
    }
  }
  t('says the button in the words of the content', () => {
    const labels = { actions: { send: 'Reserve now' } }
    assert.match(pageAt(render(filled({ ...WITH_FORM, labels }), ACTION)), /type="submit">Reserve now<\/button>/)
  })
  t('is the way to get in touch where there is no other', () => {
    const page = pageAt(render(filled({ contact: { form: true } }), ACTION))
    assert.match(page, /<section id="contact"/)
    assert.match(page, /href="#contact">Get in touch</)
  })
  t('names the page that it stands on, in each language', () => {
    const pages = [
      { slug: '', title: 'Home', sections: ['hero'] },
      { slug: 'write', title: 'Write', sections: ['contact'] },
    ]
    const content = filled({ meta: { companyName: 'Voss', pages }, ...WITH_FORM, translations: [{ lang: 'es' }] })
    const files = render(content, ACTION)
    assert.match(pageAt(files, 'write/index.html'), 'name="page" value="write/index.html"')
    const spanish = pageAt(files, 'es/write/index.html')
    assert.match(spanish, 'name="page" value="es/write/index.html"')
    assert.match(spanish, FORM_WORDS.es.message)
    assert.not.match(pageAt(files), /<form/)
  })

  const LEGAL: [string, object, RegExp | null][] = [
    ['nothing, where there is nothing to read', {}, null],
    [
      'a document elsewhere that tells of privacy, whatever stands before it',
      {
        legal: {
          links: [
            { label: 'Terms', url: 'https://a.example/t' },
            { label: 'Privacy notice', url: 'https://a.example/p' },
          ],
        },
      },
      /href="https:\/\/a\.example\/p"[^>]*>Privacy notice</,
    ],
    [
      'a page of the foot, by its name',
      {
        meta: {
          companyName: 'Voss',
          pages: [
            { slug: '', title: 'Home', sections: ['contact'] },
            { slug: 'imprint', title: 'Imprint', sections: ['text'], foot: true },
            { slug: 'privacy', title: 'Your privacy', sections: ['text'], foot: true },
          ],
        },
        text: [
          { text: 'A', page: 'imprint' },
          { text: 'B', page: 'privacy' },
        ],
      },
      /href="privacy\/">Your privacy</,
    ],
    [
      'the only legal link that there is',
      { legal: { links: [{ label: 'Imprint', url: 'https://a.example/i' }] } },
      /href="https:\/\/a\.example\/i"[^>]*>Imprint</,
    ],
  ]
  for (const [say, value, expected] of LEGAL) {
    t(`leads to ${say}`, () => {
      const [line = ''] =
        /<p class="pri">.*?<\/p>/.exec(pageAt(render(filled({ ...WITH_FORM, ...value }), ACTION))) ?? []
      if (expected === null) assert.not.match(line, /<a /)
      else assert.match(line, expected)
    })
  }

  t('may post to its own folder of the platform, by the policy of pages alone; without it no form may', () => {
    const content = filled(WITH_FORM)
    const files = render(content, ACTION)
    const manifest = siteManifest(content, files, { form: ACTION })
    const policyOf = (of: 'live' | 'preview', sort: 'page' | 'asset' | 'missing') =>
      manifest[of][sort]['content-security-policy'] ?? ''
    assert.match(policyOf('live', 'page'), 'form-action https://platform.example/s/;')
    assert.match(policyOf('preview', 'page'), 'form-action https://platform.example/s/;')
    for (const sort of ['asset', 'missing'] as const) assert.match(policyOf('live', sort), "form-action 'none'")
    assert.match(JSON.stringify(siteHandlers('/srv/one', manifest)), 'form-action https://platform.example/s/')
    const bare = siteManifest(filled({}), render(filled({}), null))
    assert.match(bare.live.page['content-security-policy'] ?? '', "form-action 'none'")
  })
  t('leaves its preview in an origin of its own, and without a form that may be sent when there is none', () => {
    assert.match(sandboxed('form-action https://a.example/s/; x'), /; sandbox allow-forms$/)
    assert.match(sandboxed("form-action 'none'; frame-ancestors 'self'"), /; sandbox$/)
  })

  t('gives other bytes for another address, and the same ones to approve', () => {
    const content = filled(WITH_FORM)
    const digests = [ACTION, `${ACTION}2`].map((form) => digestOf(render(content, form)))
    assert.is.not(digests[0], digests[1])
    const neutral = digestOf(render(content, null, null))
    assert.is(digestOf(render(content, null, null)), neutral)
    assert.not.ok(pageAt(render(content, null, null)).includes('platform.example'))
  })
  t('is part of what is rendered while the site has one, and of no other', () => {
    const inputOf = (content: object, formUrl: string) =>
      renderRequest(site({ content: { meta: { companyName: 'Voss' }, ...content } }).spec, world({ formUrl }))?.input
    assert.is.not(inputOf(WITH_FORM, 'https://a.example/s/1'), inputOf(WITH_FORM, 'https://b.example/s/1'))
    assert.is(inputOf({}, 'https://a.example/s/1'), inputOf({}, 'https://b.example/s/1'))
  })
})

const GOOD: WrittenWords = {
  name: 'Ana Ruiz',
  email: 'ana@visitor.example',
  phone: '',
  message: 'Is the jug still there?',
}
const encoded = (fields: Record<string, string>): Buffer => Buffer.from(new URLSearchParams(fields).toString())

spec('what a visitor writes', (t) => {
  t('is taken as it is written', () => {
    const { written, page, isTrapped } = postedForm(encoded({ ...GOOD, page: 'es/index.html', website: '' }))
    assert.equal([written, page, isTrapped], [GOOD, 'es/index.html', false])
    assert.equal(writtenFaults(written), [])
  })
  t('is trapped where the field is filled in that nobody sees', () => {
    assert.is(postedForm(encoded({ ...GOOD, website: 'https://spam.example' })).isTrapped, true)
  })

  const FAULTS: [string, Partial<WrittenWords>, string[]][] = [
    ['no name', { name: ' \u200b ' }, ['name']],
    ['a name that is too long', { name: 'a'.repeat(101) }, ['name']],
    ['no address', { email: '' }, ['email']],
    ['an address without a domain', { email: 'ana@visitor' }, ['email']],
    ['two addresses', { email: 'ana@visitor.example, b@visitor.example' }, ['email']],
    ['an address with a header in it', { email: 'ana@visitor.example\r\nBcc: b@visitor.example' }, ['email']],
    ['an address in angle brackets', { email: '<ana@visitor.example>' }, ['email']],
    ['an address in other letters', { email: 'аna@visitor.example' }, ['email']],
    ['a phone number of words', { phone: 'call me' }, ['phone']],
    ['an empty message', { message: ' \r\n\t\u202e ' }, ['message']],
    ['a message that is too long', { message: 'a'.repeat(3_001) }, ['message']],
    ['nothing at all', { name: '', email: '', message: '' }, ['name', 'email', 'message']],
  ]
  for (const [say, change, faults] of FAULTS) {
    t(`is refused with the field named: ${say}`, () => {
      assert.equal(writtenFaults(postedForm(encoded({ ...GOOD, ...change })).written), faults)
    })
  }
  for (const phone of ['+34 912 345 678', '(02) 2345-6789', '0912345678']) {
    t(`may hold the phone number ${phone}`, () => assert.equal(writtenFaults({ ...GOOD, phone }), []))
  }

  t('becomes text without what turns, hides or breaks; letters that need joiners keep them', () => {
    const { written } = postedForm(
      encoded({
        name: 'A\u202ena\r\nRuiz\u0000',
        email: GOOD.email,
        phone: '',
        message: 'a\r\n\r\n\r\n\r\nb\u2028c\u0007\ufeff 👩‍🚀 می‌خواهم',
      }),
    )
    assert.equal([written.name, written.message], ['Ana Ruiz', 'a\n\nb\nc  👩‍🚀 می‌خواهم'])
  })
  t('is text, whatever bytes are sent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const prefix = Buffer.from('name=')
        const { written } = postedForm(Buffer.concat([prefix, bytes]))
        for (const field of WRITTEN_FIELDS) {
          assert.ok(written[field].isWellFormed())
          assert.not.match(written[field], /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u)
        }
        for (const field of ['name', 'email', 'phone'] as const) assert.not.match(written[field], /\n/)
      }),
    )
  })
  t('is the first of two fields of a name', () => {
    assert.is(postedForm(Buffer.from('name=One&name=Two')).written.name, 'One')
  })

  const LINKS: [string, boolean][] = [
    ['See https://a.example and www.b.example', false],
    ['https://a.example https://b.example http://c.example', true],
    ['[url=x] [url=y] [url=z]', true],
    ['I saw it on your site yesterday.', false],
  ]
  for (const [message, held] of LINKS) {
    t(`is ${held ? 'held' : 'mailed'}: ${message}`, () => assert.is(isHeld({ ...GOOD, message }), held))
  }
})

spec('the page that a visitor comes from', (t) => {
  const pages = [
    { slug: '', title: 'Home', sections: ['hero', 'contact'] },
    { slug: 'shop', title: 'Shop', sections: ['hero'] },
  ]
  const content = filled({ meta: { companyName: 'Voss', pages }, ...WITH_FORM, translations: [{ lang: 'es' }] })
  const manifest = siteManifest(content, render(content, ACTION), { form: ACTION })
  const CASES: [string, string, string][] = [
    ['index.html', 'index.html', 'en'],
    ['es/shop/index.html', 'es/shop/index.html', 'es'],
    ['', 'index.html', 'en'],
    ['no/such/index.html', 'index.html', 'en'],
    ['404.html', 'index.html', 'en'],
    ['//evil.example/index.html', 'index.html', 'en'],
    ['https://evil.example/index.html', 'index.html', 'en'],
    ['robots.txt', 'index.html', 'en'],
  ]
  for (const [asked, page, lang] of CASES) {
    t(`is ${page} for ${asked || 'nothing'}`, () => {
      assert.equal(pageOf(manifest, asked), { page, lang })
      assert.ok(
        addressOfPage('https://voss.example/', pageOf(manifest, asked).page).startsWith('https://voss.example/'),
      )
    })
  }
})

spec('the mail of a message', (t) => {
  const notice = {
    mail: 'site-message',
    message: 'msg-1',
    to: 'owner@demo.test',
    site: 'Voss',
    url: 'https://voss.example/',
  } as const
  const kept: KeptMessage = { ...GOOD, phone: '+34 600', page: 'index.html', lang: 'en' }
  t('names the site and who wrote, and holds what was written as text', () => {
    const { subject, text, html } = messageMail(notice, { ...kept, message: 'Hello\n\n<b>there</b>' })
    assert.is(subject, 'Message from Ana Ruiz through Voss')
    for (const part of ['Email: ana@visitor.example', 'Phone: +34 600', 'Hello', '<b>there</b>', notice.url]) {
      assert.ok(text.includes(part), part)
    }
    assert.ok(html.includes('&lt;b&gt;there&lt;/b&gt;'))
    assert.is(messageMail(notice, kept).text, messageMail(notice, kept).text)
  })
  t('has one line of subject, whatever the names are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, company) => {
        const { subject } = messageMail({ ...notice, site: company }, { ...kept, name })
        assert.not.match(subject, /[\r\n\0]/)
      }),
    )
  })
  t('fits what a form may hold', () => {
    const message = '字'.repeat(WRITTEN_MAX.message)
    assert.ok(encoded({ ...GOOD, message }).length < 32_768)
  })
})
