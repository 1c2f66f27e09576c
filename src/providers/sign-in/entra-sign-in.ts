import { createTokenSignIn, readTokenFile } from './keep-tokens.ts'
import { readToken, requestJson } from './request-token.ts'
import { findMissing, type SignInDocument } from './sign-in-document.ts'
import type { SignInKind, SignInOptions } from './sign-in.ts'
import type { Expiring } from './token-keeper.ts'

/**
 * Keys of Azure in the header `api-key`, and tokens of Microsoft Entra.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 * https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
 */
export const entraSignIn: SignInKind = {
  findProblem(document) {
    const kind = KINDS.get(document.type)
    if (kind === undefined)
      return `the type of its sign-in document is none of ${[...KINDS.keys()].join(', ')}`
    const tenant = document.read('tenant_id')
    if (tenant !== undefined && !TENANT.test(tenant)) return 'tenant_id is not the id or domain of a tenant'
    return findMissing(document, kind.members)
  },
  needsMachine: (document) =>
    document.type !== 'entra_client_secret' ||
    !AUTHORITIES.has(document.read('authority_host') ?? AUTHORITY_DEFAULT),
  create: (options) =>
    createTokenSignIn(
      {
        withKey: (key) => ['api-key', key],
        getToken: (document, of) => requireKind(document).getToken(document, of),
      },
      options,
    ),
}

interface EntraKind {
  readonly members: readonly string[]
  getToken(document: SignInDocument, options: SignInOptions): Promise<Expiring<string>>
}

const AUTHORITY_DEFAULT = 'https://login.microsoftonline.com'
/** Of the public cloud, the US government and China. */
const AUTHORITIES: ReadonlySet<string> = new Set([
  AUTHORITY_DEFAULT,
  'https://login.microsoftonline.us',
  'https://login.partner.microsoftonline.cn',
])
const TENANT = /^[A-Za-z0-9.-]{1,100}$/
const SCOPE_DEFAULT = 'https://cognitiveservices.azure.com/.default'
const METADATA_DEFAULT = 'http://169.254.169.254/metadata/identity/oauth2/token'
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

const KINDS: ReadonlyMap<string, EntraKind> = new Map<string, EntraKind>([
  [
    'entra_client_secret',
    {
      members: ['tenant_id', 'client_id', 'client_secret'],
      getToken: (document, options) =>
        askAuthority(document, options, { client_secret: document.read('client_secret') ?? '' }),
    },
  ],
  [
    'entra_workload_identity',
    {
      members: ['tenant_id', 'client_id', 'token_file'],
      getToken: async (document, options) =>
        askAuthority(document, options, {
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: await readTokenFile(options.provider, document.read('token_file') ?? ''),
        }),
    },
  ],
  ['entra_managed_identity', { members: [], getToken: askMetadata }],
])

function requireKind(document: SignInDocument): EntraKind {
  const kind = KINDS.get(document.type)
  if (kind === undefined) throw new TypeError('a sign-in document was not checked')
  return kind
}

async function askAuthority(
  document: SignInDocument,
  { provider, path }: SignInOptions,
  proof: Readonly<Record<string, string>>,
): Promise<Expiring<string>> {
  const authority = (document.read('authority_host') ?? AUTHORITY_DEFAULT).replace(/\/+$/, '')
  const answer = await requestJson({
    provider,
    path,
    url: `${authority}/${document.read('tenant_id')}/oauth2/v2.0/token`,
    form: {
      grant_type: 'client_credentials',
      client_id: document.read('client_id') ?? '',
      scope: document.read('scope') ?? SCOPE_DEFAULT,
      ...proof,
    },
  })
  return readToken(provider, answer)
}

/** With `identity_header` it is the endpoint of App Service, else that of a virtual machine. */
async function askMetadata(document: SignInDocument, { provider }: SignInOptions): Promise<Expiring<string>> {
  const url = new URL(document.read('endpoint') ?? METADATA_DEFAULT)
  const header = document.read('identity_header')
  const clientId = document.read('client_id')
  url.searchParams.set('api-version', header === undefined ? '2018-02-01' : '2019-08-01')
  url.searchParams.set('resource', (document.read('scope') ?? SCOPE_DEFAULT).replace(/\/\.default$/, ''))
  if (clientId !== undefined) url.searchParams.set('client_id', clientId)
  const answer = await requestJson({
    provider,
    url: url.href,
    method: 'GET',
    headers: header === undefined ? { metadata: 'true' } : { 'x-identity-header': header },
  })
  return readToken(provider, withSecondsLeft(answer))
}

/** App Service tells only when the token ends. */
function withSecondsLeft(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (answer['expires_in'] !== undefined) return answer
  return { ...answer, expires_in: Number(answer['expires_on']) - Date.now() / 1000 }
}
