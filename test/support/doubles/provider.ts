import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** A real provider of OpenID Connect on this machine. It signs in at once whoever is expected, without asking. */
export type Person = { sub: string; email?: string; email_verified?: boolean }

/** @param client.secret at least 32 characters */
export const startProvider = async (client: { id: string; secret: string; callback: string }) => {
  let person: Person = { sub: 'nobody' }
  const seen: URLSearchParams[] = []
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.callback],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    pkce: { required: () => true },
    cookies: { keys: ['a key for the tests'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ ...person, sub }) }),
    interactions: { url: () => '/interaction' },
  })
  const serve = provider.callback()
  server.on('request', async (request, response) => {
    const url = new URL(request.url ?? '/', issuer)
    if (url.pathname === '/auth') seen.push(url.searchParams)
    if (url.pathname !== '/interaction') return serve(request, response)
    const { prompt, session } = await provider.interactionDetails(request, response)
    if (prompt.name === 'login') {
      return provider.interactionFinished(request, response, { login: { accountId: person.sub } })
    }
    const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: client.id })
    grant.addOIDCScope('openid email')
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
  })
  return {
    issuer,
    /** The parameters of every visit. */
    seen,
    expect: (next: Person) => {
      person = next
    },
    end: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
