/** Services of others that an installation may use: whole, or not at all. */
import { type API, type CONTROLLERS, type Env, EnvError } from './env.ts'

/** The provider to sign in by; null when none is configured. @throws EnvError when only a part of it is */
export const oidcOf = (env: Pick<Env<typeof API>, 'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret'>) => {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = env
  if (issuer !== undefined && clientId !== undefined && clientSecret !== undefined) {
    return { issuer, clientId, clientSecret }
  }
  const given = {
    BOTTEGA_OIDC_ISSUER: issuer,
    BOTTEGA_OIDC_CLIENT_ID: clientId,
    BOTTEGA_OIDC_CLIENT_SECRET: clientSecret,
  }
  const missing = Object.entries(given).filter(([, value]) => value === undefined)
  if (missing.length === Object.keys(given).length) return null
  throw new EnvError(missing.map(([name]) => ({ name, expected: 'is missing; OpenID Connect needs all three' })))
}

/** The language model to ask; null when none is configured. @throws EnvError when only a part of it is */
export const llmOf = (env: Pick<Env<typeof API>, 'llmUrl' | 'llmModel' | 'llmKey' | 'llmTimeoutSeconds'>) => {
  const { llmUrl: url, llmModel: model, llmKey: key } = env
  if (url !== undefined && model !== undefined) return { url, model, key, timeoutMs: env.llmTimeoutSeconds * 1000 }
  if (url === undefined && model === undefined && key === undefined) return null
  const given = { BOTTEGA_LLM_URL: url, BOTTEGA_LLM_MODEL: model }
  const missing = Object.entries(given).filter(([, value]) => value === undefined)
  throw new EnvError(missing.map(([name]) => ({ name, expected: 'is missing; a language model needs URL and model' })))
}

/** The card processor to collect by; null when none is configured. @throws EnvError when only a part of it is */
export const cardsOf = (
  env: Pick<Env<typeof CONTROLLERS>, 'stripeSecretKey' | 'stripeWebhookSecret' | 'stripeApiBase'>,
) => {
  const { stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret, stripeApiBase: apiBase } = env
  if (secretKey !== undefined && webhookSecret !== undefined) return { secretKey, apiBase }
  if (secretKey === undefined && webhookSecret === undefined) return null
  const given = { BOTTEGA_STRIPE_SECRET_KEY: secretKey, BOTTEGA_STRIPE_WEBHOOK_SECRET: webhookSecret }
  const missing = Object.entries(given).filter(([, value]) => value === undefined)
  throw new EnvError(missing.map(([name]) => ({ name, expected: 'is missing; card collection needs both' })))
}

const CHECKOUT_ORIGINS: Record<string, string> = { 'https://api.stripe.com': 'https://checkout.stripe.com' }

/** Where the processor's checkout pages are; a stand-in serves them itself. */
export const checkoutOriginOf = (apiBase: string): string => CHECKOUT_ORIGINS[apiBase] ?? new URL(apiBase).origin
