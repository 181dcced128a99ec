/** What each route is asked with in the matrix, where an empty body is not enough. */
import { newToken } from '../../../api/auth/tokens.ts'
import { PROFILE } from '../../support/builders/devinstance.ts'
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
  'POST /api/devboxes/size': () => ({ profile: PROFILE }),
  'POST /api/admin/accounts': () => ({ email: `${newToken().id}@demo.test` }),
}
