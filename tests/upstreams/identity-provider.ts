import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  decodeJwt,
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose'
import { Provider, type Configuration } from 'oidc-provider'

/** What the provider knows of somebody. Members of ours become claims. */
type Person = Readonly<Record<string, unknown>> & { readonly email?: string }

export interface IdentityProviderServer {
  readonly issuer: string
  /** People by what they type as their name. */
  readonly people: Map<string, Person>
  readonly clientId: string
  readonly clientSecret: string
  /** Changes the claims of every ID token, and signs it again. */
  tamper: ((claims: JWTPayload) => JWTPayload) | null
  /** Replaces an ID token as a whole. */
  forge: ((token: string) => string | Promise<string>) | null
  /** Answers before the provider does. Returns false to let the provider answer. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null
  /** The requests so far, as `GET /jwks`. */
  readonly requests: string[]
  /** Signs something as the provider does. */
  sign(claims: JWTPayload, header?: { typ?: string; kid?: string }): Promise<string>
  /** Goes on with other keys. */
  rotateKeys(): Promise<void>
  close(): Promise<void>
}

interface IdentityProviderOptions {
  readonly redirectUris: readonly string[]
  /** The provider goes away and comes back on a port that it had. */
  readonly port?: number
  readonly logoutUri?: string
  /** Whether claims are only told by the userinfo endpoint, as the specification has it. */
  readonly tellsByUserInfo?: boolean
}

const CLIENT_ID = 'parkway'
/** With characters that a form and a header write differently. */
const CLIENT_SECRET = 'the secret of the tests: 100% + more'

/** Starts a real OpenID Connect provider on a free port, at which people sign in by typing their name. */
export async function startIdentityProvider(
  options: IdentityProviderOptions,
): Promise<IdentityProviderServer> {
  const people = new Map<string, Person>()
  const requests: string[] = []
  let keys = await createKeys('key-1')
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let provider = createProvider(issuer, keys.jwk, people, options)

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    requests.push(`${request.method} ${path}`)
    if (running.intercept?.(request, response) === true) return
    if (path.startsWith('/interaction/')) return interact(provider, request, response)
    if (path === '/token') changeIdToken(response, running, keys)
    await provider.callback()(request, response)
  }
  const running: IdentityProviderServer = {
    issuer,
    people,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    tamper: null,
    forge: null,
    intercept: null,
    requests,
    sign: (claims, header) => signWith(keys, claims, header),
    rotateKeys: async () => {
      keys = await createKeys(`key-${Date.now()}`)
      provider = createProvider(issuer, keys.jwk, people, options)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return running
}

interface Keys {
  readonly jwk: JWK
  readonly privateKey: CryptoKey
}

async function createKeys(kid: string): Promise<Keys> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' } }
}

function signWith({ privateKey, jwk }: Keys, claims: JWTPayload, header: object = {}): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: jwk.kid ?? '', ...header })
    .sign(privateKey)
}

function createProvider(
  issuer: string,
  jwk: JWK,
  people: ReadonlyMap<string, Person>,
  { redirectUris, logoutUri, tellsByUserInfo = false }: IdentityProviderOptions,
): Provider {
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [...redirectUris],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        ...(logoutUri === undefined
          ? {}
          : { backchannel_logout_uri: logoutUri, backchannel_logout_session_required: true }),
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['of the tests'] },
    ttl: {
      Interaction: 600,
      Grant: 600,
      Session: 3600,
      AccessToken: 600,
      IdToken: 600,
      AuthorizationCode: 60,
    },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    conformIdTokenClaims: tellsByUserInfo,
    claims: {
      openid: ['sub', 'groups', 'hasgroups', '_claim_names', 'realm_access'],
      email: ['email', 'email_verified'],
      profile: ['name'],
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, name: `Name of ${id}`, ...people.get(id) }),
    }),
    loadExistingGrant: async (ctx) => {
      const { client, session, params } = ctx.oidc
      const grant = new ctx.oidc.provider.Grant({
        ...(client === undefined ? {} : { clientId: client.clientId }),
        ...(session?.accountId === undefined ? {} : { accountId: session.accountId }),
      })
      const scope = params?.['scope']
      grant.addOIDCScope(typeof scope === 'string' ? scope : 'openid')
      await grant.save()
      return grant
    },
    renderError: (ctx, { error, error_description: description }) => {
      ctx.type = 'text'
      ctx.body = `${error}: ${description ?? ''}`
    },
  }
  return new Provider(issuer, configuration)
}

async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST') {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Identity provider</title>
      <form method="post"><label>Name <input name="login" autofocus></label><button>Sign in</button></form>`)
    return
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const login = new URLSearchParams(Buffer.concat(chunks).toString()).get('login') ?? ''
  const result =
    login === ''
      ? { error: 'access_denied', error_description: 'the person went back' }
      : { login: { accountId: login } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

/** Lets the tests replace the ID token in the answer of the token endpoint. */
function changeIdToken(
  response: ServerResponse,
  { tamper, forge }: IdentityProviderServer,
  keys: Keys,
): void {
  if (tamper === null && forge === null) return
  const end = response.end.bind(response)
  const changed = async (text: string): Promise<string> => {
    const body = JSON.parse(text) as { id_token?: string }
    if (body.id_token === undefined) return text
    const token = tamper === null ? body.id_token : await signWith(keys, tamper(decodeJwt(body.id_token)))
    return JSON.stringify({ ...body, id_token: forge === null ? token : await forge(token) })
  }
  response.end = ((chunk?: unknown) => {
    void changed(String(chunk)).then((text) => {
      response.setHeader('content-length', Buffer.byteLength(text))
      end(text)
    })
    return response
  }) as typeof response.end
}
