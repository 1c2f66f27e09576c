import { invalidValue } from '../../../kernel/app-error.ts'
import type { KeyLimits } from '../../../providers/connection/key-limits.ts'
import type { OfferedProvider, ProviderCredential } from '../offered-provider.ts'
import type {
  DraftCredential,
  NewCredential,
  ProviderDraft,
  ProviderPatch,
  ProxyPatch,
} from '../provider-draft.ts'
import type { PlannedStep } from './planned-step.ts'
import { isSameValue } from './same-value.ts'
import type { WantedProvider } from './wanted-configuration.ts'

type Planned = Promise<PlannedStep['change']>

/** Changes of providers that are checked and not made yet. */
export interface ProviderChanges {
  addProvider(draft: ProviderDraft): Planned
  changeProvider(name: string, patch: ProviderPatch): Planned
  removeProvider(name: string): Planned
}

/** Returns what makes the offered providers the wanted ones. */
export async function planProviders(
  wanted: readonly WantedProvider[],
  offered: readonly OfferedProvider[],
  providers: ProviderChanges,
): Promise<readonly PlannedStep[]> {
  requireOnce(wanted)
  const steps: PlannedStep[] = []
  for (const [index, one] of wanted.entries()) {
    const before = offered.find(({ name }) => name === one.name)
    const step = await planOne(one, before, providers, `providers.${index}`)
    if (step !== null) steps.push(step)
  }
  const names = new Set(wanted.map(({ name }) => name))
  for (const { name } of offered)
    if (!names.has(name))
      steps.push({ kind: 'provider', action: 'delete', name, change: await providers.removeProvider(name) })
  return steps
}

function requireOnce(wanted: readonly WantedProvider[]): void {
  const seen = new Set<string>()
  for (const [index, { name }] of wanted.entries()) {
    if (seen.has(name)) throw invalidValue(`providers.${index}.name`, `The document has '${name}' twice.`)
    seen.add(name)
  }
}

async function planOne(
  wanted: WantedProvider,
  before: OfferedProvider | undefined,
  providers: ProviderChanges,
  param: string,
): Promise<PlannedStep | null> {
  const { name, vendor, headerNames, ...members } = wanted
  requireSameHeaders(headerNames, before?.headerNames ?? [], param)
  const settings = { ...members, proxy: matchProxy(wanted, before, param) }
  const drafts = matchCredentials(wanted, before?.credentials ?? [], param)
  if (before === undefined) {
    const change = await providers.addProvider({
      ...settings,
      name,
      vendor,
      credentials: drafts.filter((draft): draft is NewCredential => 'source' in draft),
    })
    return { kind: 'provider', action: 'create', name, change }
  }
  if (vendor !== undefined && vendor !== before.vendor)
    throw invalidValue(
      `${param}.vendor`,
      `The vendor of '${name}' cannot be changed. Give the provider another name.`,
    )
  if (isSame(wanted, before)) return null
  const { connectMs = null, firstByteMs = null, idleMs = null } = settings.timeouts
  const change = await providers.changeProvider(name, {
    ...settings,
    timeouts: { connectMs, firstByteMs, idleMs },
    credentials: drafts,
  })
  return { kind: 'provider', action: 'change', name, change }
}

function requireSameHeaders(wanted: readonly string[], stored: readonly string[], param: string): void {
  if (isSameValue(wanted.toSorted(), stored.toSorted())) return
  throw invalidValue(
    `${param}.header_names`,
    'The values of headers are secrets, which no document has. Set or remove them with PATCH /v1/admin/providers/{name}.',
  )
}

/** A stored password stays. */
function matchProxy(
  { proxy }: WantedProvider,
  before: OfferedProvider | undefined,
  param: string,
): ProxyPatch | null {
  if (proxy === null) return null
  const { url, username, password } = proxy
  if (password !== 'stored') return { url, username, password }
  const stored = before?.proxy
  if (stored?.hasPassword === true && stored.passwordReference === null && stored.url === url)
    return { url, username }
  throw invalidValue(
    `${param}.proxy`,
    'This gateway has no stored password for this proxy. Name where to read it with password_ref, or set it with PATCH /v1/admin/providers/{name}.',
  )
}

/** Keys that stay keep their id. */
function matchCredentials(
  { credentials }: WantedProvider,
  stored: readonly ProviderCredential[],
  param: string,
): DraftCredential[] {
  const left = [...stored]
  return credentials.map(({ key, weight, limits }, index): DraftCredential => {
    const at = left.findIndex(({ reference, lastFour }) =>
      'reference' in key ? reference === key.reference : reference === null && lastFour === key.lastFour,
    )
    const [found] = at === -1 ? [] : left.splice(at, 1)
    if (found !== undefined) return { id: found.id, weight, limits }
    if ('reference' in key) return { source: key, weight, limits }
    throw invalidValue(
      `${param}.credentials.${index}`,
      `This gateway has no stored key that ends with '${key.lastFour ?? '…'}' for this provider. Name where to read it with secret_ref, or add the key first.`,
    )
  })
}

function listLimits({ requestsPerMinute, tokensPerMinute, budgetNanoUsdPerDay }: KeyLimits) {
  return [requestsPerMinute, tokensPerMinute, budgetNanoUsdPerDay?.toString() ?? null]
}

function isSame(wanted: WantedProvider, before: OfferedProvider): boolean {
  return isSameValue(
    [
      wanted.baseUrl,
      wanted.wires,
      wanted.allowedMembers,
      wanted.timeouts,
      wanted.proxy && {
        ...wanted.proxy,
        password: wanted.proxy.password === 'stored' ? null : wanted.proxy.password?.reference,
        isStored: wanted.proxy.password === 'stored',
      },
      wanted.certificateAuthority,
      wanted.regions,
      wanted.retentionDays,
      wanted.isEnabled,
      wanted.credentials.map(({ key, weight, limits }) => [
        'reference' in key ? key.reference : null,
        'reference' in key ? null : key.lastFour,
        weight,
        ...listLimits(limits),
      ]),
    ],
    [
      before.baseUrl,
      before.wires,
      before.allowedMembers,
      before.timeouts,
      before.proxy && {
        url: before.proxy.url,
        username: before.proxy.username,
        password: before.proxy.passwordReference,
        isStored: before.proxy.hasPassword && before.proxy.passwordReference === null,
      },
      before.certificateAuthority,
      before.regions,
      before.retentionDays,
      before.isEnabled,
      before.credentials.map(({ reference, lastFour, weight, limits }) => [
        reference,
        reference === null ? lastFour : null,
        weight,
        ...listLimits(limits),
      ]),
    ],
  )
}
