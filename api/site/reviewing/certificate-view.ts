/** A certificate as a page that can be printed, in the language of the site. */

import type { SiteManifest } from '../../../crds/site/publishing/manifest.ts'
import type { ApprovalCertificate } from '../../../crds/site/reviewing/certificate.ts'
import { CERTIFICATE_WORDS } from '../../../crds/site/reviewing/certificate-words.ts'
import { html, safeUrl } from '../../../crds/text/html.ts'
import { fact, instant } from '../../page/facts.ts'
import { page } from '../../page/page.ts'
import { REVIEW_SHEET } from './review-style.ts'

export type CertificateFacts = {
  certificate: ApprovalCertificate
  jws: string
  manifest: SiteManifest
  keysUrl: string
  jsonPath: string
}

export const certificatePage = ({ certificate, jws, manifest, keysUrl, jsonPath }: CertificateFacts): string => {
  const { lang, companyName } = manifest.content.meta
  const words = CERTIFICATE_WORDS[lang]
  const { digest, site, issuer, submitted, approved, files } = certificate
  return page({
    lang,
    title: `${words.title}: ${companyName}`,
    sheet: REVIEW_SHEET,
    layout: 'wide',
    main: html`<header><div><h1>${words.title}</h1><p>${words.says(companyName)}</p></div></header>
<dl class="facts">${fact(words.site, site)}
${fact(words.submitted, instant(submitted.at))}
${fact(words.approved, instant(approved.at))}
${fact(words.reviewer, approved.by)}
${fact(words.issuer, issuer)}</dl>
<section aria-labelledby="digest"><h2 id="digest">${words.digest}</h2><p><code>${digest}</code></p></section>
<section aria-labelledby="files"><h2 id="files">${words.files} (${files.length})</h2>
<table class="sums"><caption class="visually-hidden">${words.files}</caption>
<thead><tr><th scope="col">${words.file}</th><th scope="col">${words.bytes}</th><th scope="col">SHA-256</th></tr></thead>
<tbody>${files.map(({ path, bytes, sha256 }) => html`<tr><th scope="row">${path}</th><td>${bytes}</td><td><code>${sha256}</code></td></tr>`)}</tbody></table></section>
<section aria-labelledby="signature"><h2 id="signature">${words.signature}</h2>
<p>${words.check} <a href="${safeUrl(keysUrl)}">${keysUrl}</a>.</p>
<p><a href="${safeUrl(jsonPath)}">${words.whole}</a></p>
<p class="jws"><code>${jws}</code></p></section>`,
  })
}
