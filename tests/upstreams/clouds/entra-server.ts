import { json } from '../openai-server.ts'
import type { RecordedRequest } from '../scripted-server.ts'
import { startTokenServer, type TokenServer } from './token-server.ts'

export const TENANT = '11111111-2222-3333-4444-555555555555'
export const CLIENT = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'
export const CLIENT_SECRET = 'Q~secret-of-the-application'
export const AZURE_SCOPE = 'https://cognitiveservices.azure.com/.default'
export const IDENTITY_HEADER = 'header-of-app-service'

/**
 * Microsoft Entra and the endpoints of managed identities, from
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow and
 * https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
 */
export function startEntraServer(options: { readonly assertion: () => string }): Promise<TokenServer> {
  return startTokenServer({
    check: (request) => (request.method === 'GET' ? checkMetadata(request) : checkGrant(request, options)),
    // Managed identities write the number as a text.
    answer: (access_token) => ({ token_type: 'Bearer', expires_in: '3599', access_token }),
  })
}

function checkGrant(request: RecordedRequest, { assertion }: { assertion: () => string }) {
  const form = new URLSearchParams(request.text)
  const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded'
  const isPlace = request.path === `/${TENANT}/oauth2/v2.0/token`
  const isGrant = form.get('grant_type') === 'client_credentials' && form.get('client_id') === CLIENT
  if (!isForm || !isPlace || !isGrant) return refused('invalid_request')
  if (form.get('scope') !== AZURE_SCOPE) return refused('invalid_scope')
  const isFederated =
    form.get('client_assertion_type') === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' &&
    form.get('client_assertion') === assertion()
  if (form.get('client_secret') !== CLIENT_SECRET && !isFederated) return refused('invalid_client')
  return { audience: AZURE_SCOPE }
}

function checkMetadata({ path, headers }: RecordedRequest) {
  const { pathname, searchParams } = new URL(path, 'http://metadata')
  const isMachine =
    pathname === '/metadata/identity/oauth2/token' &&
    headers['metadata'] === 'true' &&
    searchParams.get('api-version') === '2018-02-01'
  const isAppService =
    pathname === '/msi/token' &&
    headers['x-identity-header'] === IDENTITY_HEADER &&
    searchParams.get('api-version') === '2019-08-01'
  const isResource = searchParams.get('resource') === 'https://cognitiveservices.azure.com'
  return (isMachine || isAppService) && isResource ? { audience: AZURE_SCOPE } : refused('invalid_request')
}

function refused(error: string) {
  const description = `AADSTS7000215: Invalid client secret for app '${CLIENT}' of tenant '${TENANT}'.`
  return { refused: json({ error, error_description: description }, 401) }
}
