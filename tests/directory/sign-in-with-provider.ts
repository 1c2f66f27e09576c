import type { IdentityProviderServer } from '../upstreams/identity-provider.ts'
import { OWN_PAGE } from '../sessions/sign-in.ts'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'
import { createHttpBrowser, type HttpBrowser } from './http-browser.ts'

export const callbackOf = ({ baseUrl }: Pick<TestGateway, 'baseUrl'>): string =>
  `${baseUrl}/v1/sessions/directory/callback`

/** Adds a provider as an operator. Returns its id. */
export async function addProvider(
  gateway: TestGateway,
  server: IdentityProviderServer,
  settings: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await gateway.request('POST', '/v1/admin/identity-providers', {
    body: {
      name: 'Acme',
      issuer: server.issuer,
      client_id: server.clientId,
      client_secret: server.clientSecret,
      ...settings,
    },
  })
  if (status !== 201) throw new Error(`the provider was not added: ${JSON.stringify(body)}`)
  return body.id
}

interface SignInOrder {
  readonly providerId: string
  /** What the person types at the provider. Empty: they go back. */
  readonly login: string
  readonly query?: string
  readonly browser?: HttpBrowser
}

export interface SignedIn {
  readonly browser: HttpBrowser
  /** Path and query of the page that the browser ends at. */
  readonly path: string
  /** Why it failed, as the sign-in page is told. */
  readonly problem: string | null
  /** Sends a request as a page of the console does. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<TestAnswer>
}

/** Signs in as a person does: from the gateway to the provider, and back. */
export async function signInWithProvider(gateway: TestGateway, order: SignInOrder): Promise<SignedIn> {
  const { providerId, login, query = '', browser = createHttpBrowser() } = order
  const isEnd = pageOf(gateway)
  const start = `${gateway.baseUrl}/v1/sessions/directory/${providerId}/start${query}`
  const headers = { ...OWN_PAGE }
  let visited = await browser.visit(start, { isEnd, headers })
  if (visited.text.includes('name="login"'))
    visited = await browser.visit(visited.url.href, { form: { login }, isEnd })
  if (visited.status !== null) throw new Error(`the sign-in stopped at ${visited.url.href}: ${visited.text}`)
  return signedInAt(gateway, browser, visited.url)
}

/** Whether an address is a page of the console, which these tests do not load. */
export function pageOf({ baseUrl }: TestGateway): (url: URL) => boolean {
  return (url) => url.origin === baseUrl && !url.pathname.startsWith('/v1/')
}

export function signedInAt(gateway: TestGateway, browser: HttpBrowser, url: URL): SignedIn {
  return {
    browser,
    path: url.pathname + url.search + url.hash,
    problem: url.searchParams.get('problem'),
    ask: (method, path, body) => {
      const cookie = `parkway_session=${browser.cookies.get('parkway_session') ?? ''}`
      return gateway.request(method, path, { key: null, headers: { ...OWN_PAGE, cookie }, body })
    },
  }
}
