import { invalidValue } from '../../../kernel/app-error.ts'
import { parseWebAddress } from '../../../kernel/parse-web-address.ts'
import type { Sealer } from '../../../kernel/seal-text.ts'
import { sealSecret } from '../../../kernel/sealed-secret.ts'
import { isLinkLocalHost } from '../check-draft.ts'
import { proxyPlace, type StoredProvider, type StoredProxy } from '../offered-provider.ts'
import type { ProxyPatch } from '../provider-draft.ts'
import type { SecretReferences } from '../secrets/secret-references.ts'

interface ProxyOptions {
  readonly sealer: Sealer
  readonly references: Pick<SecretReferences, 'findProblem'>
}

const USERNAME = /^[^:\p{Cc}]{1,256}$/u
const PASSWORD = /^\P{Cc}{1,1024}$/u

/** Returns the proxy of a provider after a change. Throws if the change is not possible. */
export function changeProxy(
  { name, proxy: before }: StoredProvider,
  patch: ProxyPatch | null | undefined,
  options: ProxyOptions,
): StoredProxy | null {
  if (patch === undefined) return before
  if (patch === null) return null
  const { username = before?.username ?? null } = patch
  const given = patch.url ?? before?.url
  if (given === undefined) throw invalidValue('proxy.url', 'A proxy needs its address.')
  const url = given === before?.url ? given : checkProxyUrl(given)
  if (username !== null && !USERNAME.test(username))
    throw invalidValue('proxy.username', 'A username has up to 256 characters without a colon.')
  if (patch.password !== undefined) return { url, username, ...sealPassword(name, patch.password, options) }
  const hasPassword = before?.hasPassword === true
  if (hasPassword && url !== before.url)
    throw invalidValue(
      'proxy.password',
      'A password stays with the proxy that it was given for. Give it again.',
    )
  return {
    url,
    username,
    hasPassword,
    passwordReference: before?.passwordReference ?? null,
    sealedPassword: before?.sealedPassword ?? null,
  }
}

function checkProxyUrl(text: string): string {
  const url = parseWebAddress(text)
  if (url === null || text.length > 500)
    throw invalidValue('proxy.url', 'It must be a URL with http:// or https://.')
  if (url.username !== '' || url.password !== '')
    throw invalidValue('proxy.url', 'The username and the password have members of their own.')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw invalidValue('proxy.url', 'It must end with its host and port.')
  if (isLinkLocalHost(url.hostname))
    throw invalidValue(
      'proxy.url',
      'An address of the link itself, where clouds serve their metadata, is refused.',
    )
  return url.origin
}

function sealPassword(
  provider: string,
  password: NonNullable<ProxyPatch['password']> | null,
  { sealer, references }: ProxyOptions,
): Pick<StoredProxy, 'hasPassword' | 'passwordReference' | 'sealedPassword'> {
  if (password === null) return { hasPassword: false, passwordReference: null, sealedPassword: null }
  if ('reference' in password) {
    const problem = references.findProblem(password.reference)
    if (problem !== null)
      throw invalidValue('proxy.password_ref', `This reference cannot be used: ${problem}.`)
    return { hasPassword: true, passwordReference: password.reference, sealedPassword: null }
  }
  if (!PASSWORD.test(password.secret))
    throw invalidValue('proxy.password', 'A password is one line of up to 1024 characters.')
  const sealedPassword = sealSecret(sealer, password.secret, proxyPlace(provider))
  return { hasPassword: true, passwordReference: null, sealedPassword }
}
