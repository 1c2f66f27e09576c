import { openSecret } from '../../kernel/sealed-secret.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import { hasLimits, type LimitedKey } from '../../providers/connection/key-limits.ts'
import type { NetworkPath } from '../../providers/connection/network-path.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import {
  credentialPlace,
  headersPlace,
  proxyPlace,
  type StoredCredential,
  type StoredProvider,
  type StoredProxy,
} from './offered-provider.ts'
import type { CertificateAuthorities } from './network/certificate-authorities.ts'
import type { SecretReading } from './secrets/secret-reading.ts'
import type { SecretReferences } from './secrets/secret-references.ts'
import { findSignInProblem } from './secrets/sign-in-problem.ts'

/** Something of a provider that cannot be read: a secret, or a file of certificates. */
export interface SecretProblem {
  readonly provider: string
  readonly of: 'credential' | 'headers' | 'proxy' | 'certificate_authority'
  /** Null for what the whole provider has. */
  readonly credentialId: string | null
  readonly problem: string
}

export interface OpenedProvider {
  /** Null if it is switched off, if none of its keys can be read, or if something else cannot that it needs. */
  readonly settings: ProviderSettings | null
  readonly problems: readonly SecretProblem[]
}

interface OpenOptions {
  readonly sealer: Pick<Sealer, 'openBytes'>
  readonly references: Pick<SecretReferences, 'read'>
  readonly authorities: Pick<CertificateAuthorities, 'read'>
}

const NOT_OPENED = 'it was sealed with another key'

/** Returns the settings of a stored provider with its secrets. What cannot be read is left out, if others are left. */
export function openProvider(stored: StoredProvider, options: OpenOptions): OpenedProvider {
  const { name: provider, vendor, baseUrl, wires, allowedMembers, timeouts } = stored
  const problems: SecretProblem[] = []
  const apiKeys: string[] = []
  const keyWeights: number[] = []
  const keyLimits: (LimitedKey | null)[] = []
  for (const credential of stored.credentials) {
    const { secret, problem } = checkSignIn(stored, credential, readCredential(stored, credential, options))
    if (problem !== null) problems.push({ provider, of: 'credential', credentialId: credential.id, problem })
    if (secret !== null && !apiKeys.includes(secret)) {
      apiKeys.push(secret)
      keyWeights.push(credential.weight)
      const { id, limits } = credential
      keyLimits.push(hasLimits(limits) ? { ...limits, id } : null)
    }
  }
  const headers = openHeaders(stored, options)
  if (headers === null) problems.push({ provider, of: 'headers', credentialId: null, problem: NOT_OPENED })
  const path = openPath(stored, options)
  problems.push(...path.problems)
  const lacksKeys = stored.credentials.length > 0 && apiKeys.length === 0
  if (!stored.isEnabled || lacksKeys || headers === null || path.problems.length > 0)
    return { settings: null, problems }
  return {
    settings: {
      ...(vendor === null ? {} : { vendor }),
      apiKeys,
      keyWeights,
      ...(keyLimits.every((limits) => limits === null) ? {} : { keyLimits }),
      baseUrl,
      ...(wires === null ? {} : { wires }),
      ...(allowedMembers.length === 0 ? {} : { allowedMembers }),
      ...(headers.length === 0 ? {} : { headers }),
      ...(Object.keys(timeouts).length === 0 ? {} : { timeouts }),
      ...(Object.keys(path.path).length === 0 ? {} : { path: path.path }),
    },
    problems,
  }
}

function checkSignIn(
  { vendor }: StoredProvider,
  { reference }: StoredCredential,
  read: SecretReading,
): SecretReading {
  if (read.secret === null) return read
  const problem = findSignInProblem(vendor, read.secret, { isOfMachine: reference !== null })
  return problem === null ? read : { secret: null, problem }
}

function readCredential(
  { name }: StoredProvider,
  { id, reference, sealed }: StoredCredential,
  { sealer, references }: OpenOptions,
): SecretReading {
  if (reference !== null) return references.read(reference)
  const secret = sealed === null ? null : openSecret(sealer, sealed, credentialPlace(name, id))
  return secret === null ? { secret, problem: NOT_OPENED } : { secret, problem: null }
}

/** Returns null if they cannot be opened. */
function openHeaders(
  { name, sealedHeaders }: StoredProvider,
  { sealer }: OpenOptions,
): readonly string[] | null {
  if (sealedHeaders === null) return []
  const text = openSecret(sealer, sealedHeaders, headersPlace(name))
  if (text === null) return null
  const headers: unknown = JSON.parse(text)
  if (!isRecord(headers)) return null
  return Object.entries(headers).flatMap(([header, value]) =>
    typeof value === 'string' ? [header, value] : [],
  )
}

/** Without its proxy or its certificates, a provider is not called at all: it would be reached in a way that nobody chose. */
function openPath(
  { name: provider, proxy, certificateAuthority }: StoredProvider,
  options: OpenOptions,
): { readonly path: NetworkPath; readonly problems: readonly SecretProblem[] } {
  const problems: SecretProblem[] = []
  const note = (of: SecretProblem['of'], problem: string | null): void => {
    if (problem !== null) problems.push({ provider, of, credentialId: null, problem })
  }
  const password = proxy === null ? null : readPassword(provider, proxy, options)
  if (password?.secret === null) note('proxy', password.problem)
  const authority = certificateAuthority === null ? null : options.authorities.read(certificateAuthority)
  note('certificate_authority', authority?.problem ?? null)
  const username = proxy?.username ?? ''
  return {
    path: {
      ...(proxy === null ? {} : { proxy: { url: proxy.url, username, password: password?.secret ?? '' } }),
      ...(authority?.pem === null || authority === null ? {} : { certificateAuthority: authority.pem }),
    },
    problems,
  }
}

function readPassword(
  provider: string,
  { hasPassword, passwordReference, sealedPassword }: StoredProxy,
  { sealer, references }: OpenOptions,
): SecretReading | null {
  if (!hasPassword) return null
  if (passwordReference !== null) return references.read(passwordReference)
  const secret = sealedPassword === null ? null : openSecret(sealer, sealedPassword, proxyPlace(provider))
  return secret === null ? { secret, problem: NOT_OPENED } : { secret, problem: null }
}
