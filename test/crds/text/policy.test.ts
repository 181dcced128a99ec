import { DATA, hashOf, policyOf, SELF, sandboxed } from '../../../crds/text/policy.ts'
import { assert, spec } from '../../support/runner/spec.ts'

spec('a content policy', (t) => {
  t('allows nothing that is not asked for, and nobody to frame it', () => {
    assert.is(
      policyOf({}),
      "default-src 'none'; script-src 'none'; style-src 'none'; img-src 'none'; font-src 'none'; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
  })

  t('allows what is asked for, and no more', () => {
    const policy = policyOf({ styles: [SELF], images: [SELF, DATA], forms: [SELF, 'https://pay.test'] })
    for (const one of ["style-src 'self';", "img-src 'self' data:;", "form-action 'self' https://pay.test;"])
      assert.ok(policy.includes(one), one)
    assert.ok(policy.includes("script-src 'none'"))
  })

  t('takes no source that would begin another directive or let in what is written into the page', () => {
    for (const source of ['', "'unsafe-inline'", "'unsafe-eval'", '*', 'https://*.test', "x; script-src 'self'", 'a b'])
      assert.throws(() => policyOf({ scripts: [source] }), source)
  })

  // The hash of an empty text, as FIPS 180-4 has it.
  t('knows a text by its hash', () => assert.is(hashOf(''), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"))

  t('can put what somebody else made into an origin of its own', () => {
    assert.is(sandboxed(policyOf({})), `${policyOf({})}; sandbox`)
  })
})
