import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import { openSecret, sealSecret, type SealedSecret } from '../../kernel/sealed-secret.ts'
import {
  checkBaseUrl,
  checkCredential,
  checkHeaders,
  checkMembers,
  checkName,
  CREDENTIALS_MAX,
  HEADERS_MAX,
  readVendor,
  requireAddress,
} from './check-draft.ts'
import {
  credentialPlace,
  headersPlace,
  type StoredCredential,
  type StoredProvider,
} from './offered-provider.ts'
import type {
  DraftCredential,
  NewCredential,
  ProviderDraft,
  ProviderPatch,
  TimeLimits,
} from './provider-draft.ts'
import { changeProxy } from './network/change-proxy.ts'
import type { CertificateAuthorities } from './network/certificate-authorities.ts'
import { requireOwnSecrets } from './require-own-secrets.ts'
import { lastFourOf, toSecretLine } from './secrets/secret-text.ts'
import type { SecretReferences } from './secrets/secret-references.ts'

interface PrepareOptions {
  readonly sealer: Sealer
  readonly references: Pick<SecretReferences, 'findProblem'>
  readonly authorities: Pick<CertificateAuthorities, 'findProblem'>
  readonly nowMs: number
}

/** Returns a new provider as it would be stored. Throws if the draft is not one of a provider. */
export function prepareProvider(draft: ProviderDraft, options: PrepareOptions): StoredProvider {
  checkName(draft.name)
  const { nowMs } = options
  const empty: StoredProvider = {
    name: draft.name,
    vendor: readVendor(draft),
    baseUrl: null,
    wires: null,
    allowedMembers: [],
    headerNames: [],
    sealedHeaders: null,
    timeouts: {},
    proxy: null,
    certificateAuthority: null,
    regions: [],
    retentionDays: null,
    isEnabled: true,
    credentials: [],
    version: 0n,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
  return changeProvider(empty, draft, options)
}

/** Returns the provider as it would be stored after a change. Throws if the change is not possible. */
export function changeProvider(
  before: StoredProvider,
  patch: ProviderPatch,
  options: PrepareOptions,
): StoredProvider {
  const {
    baseUrl = before.baseUrl,
    wires = before.wires,
    certificateAuthority = before.certificateAuthority,
    regions = before.regions,
    retentionDays = before.retentionDays,
  } = patch
  checkMembers(before.vendor, patch)
  if (certificateAuthority !== null) checkAuthority(certificateAuthority, options)
  const credentials =
    patch.credentials === undefined
      ? before.credentials
      : changeCredentials(before, patch.credentials, options)
  const changed = {
    ...before,
    baseUrl: baseUrl === null ? null : baseUrl === before.baseUrl ? baseUrl : checkBaseUrl(baseUrl),
    wires,
    allowedMembers: patch.allowedMembers ?? before.allowedMembers,
    timeouts: changeTimeouts(before.timeouts, patch.timeouts),
    proxy: changeProxy(before, patch.proxy, options),
    certificateAuthority,
    regions: [...new Set(regions)],
    retentionDays,
    isEnabled: patch.isEnabled ?? before.isEnabled,
    credentials,
    updatedAtMs: options.nowMs,
    ...changeHeaders(before, patch.headers ?? {}, { ...options, hasKeys: credentials.length > 0 }),
  }
  requireAddress({ ...changed, credentials: credentials.length })
  requireOwnSecrets(before, changed)
  return changed
}

function checkAuthority(text: string, { authorities }: PrepareOptions): void {
  const problem = authorities.findProblem(text)
  if (problem !== null) throw invalidValue('certificate_authority', `This cannot be used: ${problem}.`)
}

function changeCredentials(
  before: StoredProvider,
  drafts: readonly DraftCredential[],
  options: PrepareOptions,
): StoredCredential[] {
  if (drafts.length > CREDENTIALS_MAX)
    throw invalidValue('credentials', `At most ${CREDENTIALS_MAX} credentials.`)
  const kept = new Set<string>()
  return drafts.map((draft, index) => {
    const param = `credentials.${index}`
    if ('source' in draft) return createCredential(before, draft, param, options)
    const known = before.credentials.find(({ id }) => id === draft.id)
    if (known === undefined || kept.has(known.id))
      throw invalidValue(`${param}.id`, 'This provider has no such credential, or it is named twice.')
    kept.add(known.id)
    return { ...known, weight: draft.weight ?? known.weight, limits: { ...known.limits, ...draft.limits } }
  })
}

function createCredential(
  { name: provider, vendor }: StoredProvider,
  draft: NewCredential,
  param: string,
  { sealer, references, nowMs }: PrepareOptions,
): StoredCredential {
  checkCredential(draft, param, { vendor, references })
  const id = createId(nowMs)
  const { source, weight, limits } = draft
  const shared = { id, weight, limits, createdAtMs: nowMs }
  if ('reference' in source) return { ...shared, reference: source.reference, sealed: null, lastFour: null }
  const secret = toSecretLine(source.secret)
  const sealed = sealSecret(sealer, secret, credentialPlace(provider, id))
  return { ...shared, reference: null, sealed, lastFour: lastFourOf(secret) }
}

function changeHeaders(
  before: StoredProvider,
  changes: Readonly<Record<string, string | null>>,
  { sealer, hasKeys }: PrepareOptions & { readonly hasKeys: boolean },
): Pick<StoredProvider, 'headerNames' | 'sealedHeaders'> {
  const checked = checkHeaders(changes, { hasKeys })
  // A header that was fine without keys is not any more.
  const staying = before.headerNames.filter((name) => !checked.has(name))
  checkHeaders(Object.fromEntries(staying.map((name) => [name, 'unchanged'])), { hasKeys })
  if (checked.size === 0) return { headerNames: before.headerNames, sealedHeaders: before.sealedHeaders }
  const headers = new Map(Object.entries(openHeaders(before, sealer)))
  for (const [name, value] of checked) {
    if (value === null) headers.delete(name)
    else headers.set(name, value)
  }
  if (headers.size > HEADERS_MAX) throw invalidValue('headers', `At most ${HEADERS_MAX} headers.`)
  const text = JSON.stringify(Object.fromEntries(headers))
  const sealedHeaders: SealedSecret | null =
    headers.size === 0 ? null : sealSecret(sealer, text, headersPlace(before.name))
  return { headerNames: [...headers.keys()], sealedHeaders }
}

function openHeaders({ name, sealedHeaders }: StoredProvider, sealer: Sealer): Record<string, string> {
  if (sealedHeaders === null) return {}
  const text = openSecret(sealer, sealedHeaders, headersPlace(name))
  if (text === null)
    throw new AppError(
      'conflict',
      'The headers of this provider were sealed with another key. Remove all of them first.',
    )
  return JSON.parse(text)
}

function changeTimeouts(
  before: StoredProvider['timeouts'],
  changes: TimeLimits | undefined,
): StoredProvider['timeouts'] {
  const { connectMs, firstByteMs, idleMs } = { ...before, ...changes }
  return {
    ...(connectMs === undefined || connectMs === null ? {} : { connectMs }),
    ...(firstByteMs === undefined || firstByteMs === null ? {} : { firstByteMs }),
    ...(idleMs === undefined || idleMs === null ? {} : { idleMs }),
  }
}
