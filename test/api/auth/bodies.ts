/** What each route is asked with in the matrix, where an empty body is not enough. */
import { newToken } from '../../../api/auth/tokens.ts'
import { PROFILE, publicKey } from '../../support/builders/devinstance.ts'
import { order } from '../../support/stage/invoicing.ts'

export const BODIES: Record<string, () => unknown> = {
  'POST /api/invoices': () => order({ send: false }),
  'POST /api/invoices/draft': () => ({ prompt: 'A month' }),
  'POST /api/invoices/chat': () => ({ messages: [{ role: 'user', content: 'A month' }] }),
  'POST /api/invoices/extract-contract': () => ({ text: 'ACME pays.' }),
  'POST /api/invoices/settings/rails': () => ({ rail: 'stripe', enabled: false }),
  'POST /api/invoices/:id/recurrence': () => ({ every: 'month', day: 1, mode: 'draft' }),
  'POST /api/webhooks': () => ({
    url: `https://${newToken()
      .id.toLowerCase()
      .replace(/[^a-z0-9]/g, '')}.invalid/`,
  }),
  'POST /api/webhooks/verify': () => ({ body: '{}', headers: {}, secret: 'whsec_x' }),
  'POST /api/webhooks/:id/redeliver': () => ({ after: 0 }),
  'POST /api/auth/tokens': () => ({ name: 'made in the matrix', scopes: ['invoices:read'] }),
  'POST /api/website/generate': () => ({ content: { meta: { company_name: 'Matrix' } } }),
  'POST /api/website/base-domain': () => ({
    domain: `${newToken()
      .id.toLowerCase()
      .replace(/[^a-z0-9]/g, '')}.com`,
  }),
  'POST /api/website/extract': () => ({ text: 'Matrix makes tables.' }),
  'PUT /api/website/:id/domain': () => ({
    subdomain: `matrix-${newToken()
      .id.toLowerCase()
      .replace(/[^a-z0-9]/g, '')}`,
  }),
  'POST /api/website/:id/decision': () => ({ decision: 'approve' }),
  // to where it is already: the links of the matrix stay good
  'POST /api/invoices/:id/link/rotate': () => ({ version: 1 }),
  'POST /api/invoices/:id/password/rotate': () => ({ version: 1 }),
  'POST /api/website/:id/preview/rotate': () => ({ version: 1 }),
  'POST /api/website/:id/review/rotate': () => ({ version: 1 }),
  'POST /api/website/:id/form/rotate': () => ({ version: 1 }),
  'PUT /api/apps/:id/domain-config': () => ({ step: 'plan', hostnames: [] }),
  'PATCH /api/apps/:id/publication-policy': () => ({ access: 'public' }),
  'POST /api/account/ssh-keys': () => ({ name: 'laptop', public_key: publicKey() }),
  'POST /api/devboxes/size': () => ({ profile: PROFILE }),
  'POST /api/apps/:id/scale': () => ({ replicas: 2 }),
  'POST /api/apps/:id/previews': () => ({ ref: 'main' }),
  'POST /api/apps/:id/run': () => ({ service: 'web', command: ['id'] }),
  'POST /api/admin/accounts': () => ({ email: `${newToken().id}@demo.test` }),
}

/** These need more than a credential to succeed; each has tests of its own. */
export const NEVER_SUCCEED = [
  'DELETE /api/invoices/:id', // it is numbered
  'GET /api/invoices/:id/xml', // its issuer is in no country
  'POST /api/invoices/:id/remind', // a row before has voided it
  'POST /api/invoices/:id/recurrence', // likewise
  'POST /api/invoices/issuers/:id/logo', // the body is no picture
  'POST /api/website/:id/publish', // it has no domain
  'POST /api/website/:id/republish', // it was never live
  'GET /api/website/:id/attestation', // likewise
  'POST /review/:token', // the form is empty
  'POST /account/tokens', // the form is empty
  'GET /api/apps/:id/logs', // nobody reaches its host
]
