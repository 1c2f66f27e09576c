import { invalidValue } from '../../kernel/app-error.ts'
import { parseWebAddress } from '../../kernel/parse-web-address.ts'
import { isSelfHosted, needsAddress, vendorOf, VENDORS } from '../../providers/vendors.ts'
import { BILLED_MEMBERS } from '../../providers/requests/billed-members.ts'
import type { NewCredential, ProviderDraft, ProviderPatch } from './provider-draft.ts'
import { findSignInProblem } from './secrets/sign-in-problem.ts'
import { isSecretText } from './secrets/secret-text.ts'
import type { SecretReferences } from './secrets/secret-references.ts'

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/
/** Names that mean something else in a path or in a route. */
const RESERVED = new Set(['sandbox', 'test'])
export const CREDENTIALS_MAX = 50
export const HEADERS_MAX = 20
const HEADER_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,2046}[\x21-\x7e])?$/

/** Headers that belong to the connection or to the request that the gateway writes. Another value could smuggle a second request. */
const OWN_HEADERS = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-request-id',
])
/** Those for proxies, and those that a signature for AWS consists of. */
const OWN_PREFIXES = ['proxy-', 'x-amz-']
/** Headers that carry a credential. They may be given in place of a key. */
const CREDENTIAL_HEADERS = new Set([
  'authorization',
  'api-key',
  'x-api-key',
  'xi-api-key',
  'x-goog-api-key',
  'x-key',
  'cookie',
])

/** Throws if the name cannot be that of a provider. */
export function checkName(name: string): void {
  if (!NAME.test(name))
    throw invalidValue(
      'name',
      'A name has up to 64 lower-case letters, digits, dots, dashes and underscores.',
    )
  if (RESERVED.has(name)) throw invalidValue('name', `'${name}' is a name of the gateway itself.`)
}

/** Returns the vendor of a draft. Throws if there is no such vendor, or if the name is that of another one. */
export function readVendor({ name, vendor }: Pick<ProviderDraft, 'name' | 'vendor'>): string | null {
  const ofName = VENDORS.find(({ id }) => id === name)?.id ?? null
  if (vendor === undefined) return ofName
  if (vendor !== null && !VENDORS.some(({ id }) => id === vendor))
    throw invalidValue('vendor', `There is no vendor '${vendor}'.`)
  if (ofName !== null && vendor !== ofName)
    throw invalidValue('name', `'${name}' is the name of a vendor. Choose another one.`)
  return vendor
}

interface CheckedParts {
  readonly vendor: string | null
  readonly baseUrl: string | null
  readonly credentials: number
}

/** Throws if a provider of this kind needs an address or a key that is not there. */
export function requireAddress({ vendor, baseUrl, credentials }: CheckedParts): void {
  const descriptor = vendor === null ? undefined : vendorOf(vendor)
  if (baseUrl === null && (descriptor === undefined || needsAddress(descriptor)))
    throw invalidValue('base_url', 'This kind of server needs its address.')
  const needsKey = (descriptor?.adapters ?? []).length > 0 || descriptor?.signIn !== undefined
  if (credentials === 0 && (baseUrl === null || needsKey))
    throw invalidValue('credentials', 'This vendor needs a key.')
}

export function checkBaseUrl(text: string): string {
  const url = text.length <= 500 ? parseWebAddress(text) : null
  if (url === null) throw invalidValue('base_url', 'It must be a URL with http:// or https://.')
  if (url.username !== '' || url.password !== '')
    throw invalidValue('base_url', 'It must not contain a user or a password.')
  if (url.search !== '' || url.hash !== '' || text.includes('?') || text.includes('#'))
    throw invalidValue('base_url', 'It must end with its path.')
  if (isLinkLocalHost(url.hostname))
    throw invalidValue(
      'base_url',
      'An address of the link itself, where clouds serve their metadata, is refused.',
    )
  return text.replace(/\/+$/, '')
}

/** Operators may name private hosts. No model is served by the metadata of a cloud, which has secrets of the machine. */
export function isLinkLocalHost(hostname: string): boolean {
  return (
    hostname.startsWith('169.254.') ||
    /^\[fe[89ab][0-9a-f]:/i.test(hostname) ||
    /^\[::ffff:a9fe:/i.test(hostname) ||
    hostname.toLowerCase() === '[fd00:ec2::254]' ||
    /^metadata(\.google\.internal)?\.?$/i.test(hostname)
  )
}

/** Returns the headers in lower case. Throws for one that would change more than it says. */
export function checkHeaders<Value extends string | null>(
  headers: Readonly<Record<string, Value>>,
  { hasKeys }: { readonly hasKeys: boolean },
): ReadonlyMap<string, Value> {
  const checked = new Map<string, Value>()
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    const param = `headers.${HEADER_NAME.test(name) ? name : 'name'}`
    if (!HEADER_NAME.test(name)) throw invalidValue(param, 'This is not the name of a header.')
    if (OWN_HEADERS.has(name) || OWN_PREFIXES.some((prefix) => name.startsWith(prefix)))
      throw invalidValue(param, 'The gateway itself sets this header.')
    if (value !== null && CREDENTIAL_HEADERS.has(name) && hasKeys)
      throw invalidValue(param, 'This header carries the key. Give either it or keys.')
    if (value !== null && !HEADER_VALUE.test(value))
      throw invalidValue(param, 'A value is one line of printable ASCII characters.')
    if (checked.has(name)) throw invalidValue(param, 'This header is given twice.')
    checked.set(name, value)
  }
  if (checked.size > HEADERS_MAX) throw invalidValue('headers', `At most ${HEADERS_MAX} headers.`)
  return checked
}

/** The message never repeats a secret. */
export function checkCredential(
  { source }: NewCredential,
  param: string,
  { vendor, references }: CredentialContext,
): void {
  if ('secret' in source) {
    const problem = findSignInProblem(vendor, source.secret, { isOfMachine: false })
    if (problem !== null) throw invalidValue(param, `This cannot be used to sign in: ${problem}.`)
    if (!isSecretText(source.secret))
      throw invalidValue(param, 'A key is one line of printable ASCII characters without spaces.')
    return
  }
  const problem = references.findProblem(source.reference)
  if (problem !== null) throw invalidValue(param, `This reference cannot be used: ${problem}.`)
}

interface CredentialContext {
  readonly vendor: string | null
  readonly references: Pick<SecretReferences, 'findProblem'>
}

export function checkMembers(vendor: string | null, { allowedMembers = [] }: ProviderPatch): void {
  const isOwn = vendor === null || isSelfHosted(vendor)
  for (const name of allowedMembers)
    if (!isOwn && !BILLED_MEMBERS.has(name))
      throw invalidValue('allow_members', `'${name}' is not held back.`)
}
