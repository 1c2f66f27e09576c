import { openSecret } from '../../kernel/sealed-secret.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import {
  credentialPlace,
  headersPlace,
  type StoredCredential,
  type StoredProvider,
} from './offered-provider.ts'
import type { SecretReading } from './secrets/secret-reading.ts'
import type { SecretReferences } from './secrets/secret-references.ts'
import { findSignInProblem } from './secrets/sign-in-problem.ts'

/** A secret of a provider that cannot be read. */
export interface SecretProblem {
  readonly provider: string
  /** Null for the headers of the provider. */
  readonly credentialId: string | null
  readonly problem: string
}

export interface OpenedProvider {
  /** Null if it is switched off, or if none of its secrets can be read. */
  readonly settings: ProviderSettings | null
  readonly problems: readonly SecretProblem[]
}

interface OpenOptions {
  readonly sealer: Pick<Sealer, 'openBytes'>
  readonly references: Pick<SecretReferences, 'read'>
}

const NOT_OPENED = 'it was sealed with another key'

/** Returns the settings of a stored provider with its secrets. What cannot be read is left out, if others are left. */
export function openProvider(stored: StoredProvider, options: OpenOptions): OpenedProvider {
  const { name: provider, vendor, baseUrl, wires, allowedMembers, timeouts } = stored
  const problems: SecretProblem[] = []
  const apiKeys: string[] = []
  const keyWeights: number[] = []
  for (const credential of stored.credentials) {
    const { secret, problem } = checkSignIn(stored, credential, readCredential(stored, credential, options))
    if (problem !== null) problems.push({ provider, credentialId: credential.id, problem })
    if (secret !== null && !apiKeys.includes(secret)) {
      apiKeys.push(secret)
      keyWeights.push(credential.weight)
    }
  }
  const headers = openHeaders(stored, options)
  if (headers === null) problems.push({ provider, credentialId: null, problem: NOT_OPENED })
  const lacksKeys = stored.credentials.length > 0 && apiKeys.length === 0
  if (!stored.isEnabled || lacksKeys || headers === null) return { settings: null, problems }
  return {
    settings: {
      ...(vendor === null ? {} : { vendor }),
      apiKeys,
      keyWeights,
      baseUrl,
      ...(wires === null ? {} : { wires }),
      ...(allowedMembers.length === 0 ? {} : { allowedMembers }),
      ...(headers.length === 0 ? {} : { headers }),
      ...(Object.keys(timeouts).length === 0 ? {} : { timeouts }),
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
