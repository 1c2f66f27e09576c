import { invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import {
  costsInUse,
  giveCosts,
  isAsInFile,
  withoutRates,
  withoutRemoved,
  type Offer,
  type OfferedModel,
  type OfferedPrice,
  type OfferedProvider,
  type WantedConfiguration,
  type WantedModel,
  type WantedProvider,
} from '../../../modules/offer/offer.ts'
import { NO_KEY_LIMITS, type KeyLimits } from '../../../providers/connection/key-limits.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { keyLimitsToWire, readKeyLimits } from '../operator/key-limit-forms.ts'
import type {
  ConfigDocument,
  CredentialDocument,
  ModelDocument,
  ProviderDocument,
  ProxyDocument,
} from './config-document-form.ts'
import { readVisibility, visibilityToWire } from './model-wire.ts'

function providerToDocument(provider: OfferedProvider): ProviderDocument {
  const { connectMs, firstByteMs, idleMs } = provider.timeouts
  const timeouts = {
    ...(connectMs === undefined ? {} : { connect_ms: connectMs }),
    ...(firstByteMs === undefined ? {} : { first_byte_ms: firstByteMs }),
    ...(idleMs === undefined ? {} : { idle_ms: idleMs }),
  }
  return {
    name: provider.name,
    ...(provider.vendor === provider.name ? {} : { vendor: provider.vendor }),
    ...(provider.baseUrl === null ? {} : { base_url: provider.baseUrl }),
    ...(provider.wires === null ? {} : { wires: [...provider.wires] }),
    ...(provider.allowedMembers.length === 0 ? {} : { allow_members: [...provider.allowedMembers] }),
    ...(provider.headerNames.length === 0 ? {} : { header_names: [...provider.headerNames] }),
    ...(Object.keys(timeouts).length === 0 ? {} : { timeouts }),
    ...(provider.proxy === null ? {} : { proxy: proxyToDocument(provider.proxy) }),
    ...(provider.certificateAuthority === null
      ? {}
      : { certificate_authority: provider.certificateAuthority }),
    ...(provider.regions.length === 0 ? {} : { regions: [...provider.regions] }),
    ...(provider.retentionDays === null ? {} : { retention_days: provider.retentionDays }),
    ...(provider.isEnabled ? {} : { is_enabled: false }),
    ...(provider.credentials.length === 0
      ? {}
      : {
          credentials: provider.credentials.map(({ reference, lastFour, weight, limits }) => ({
            ...(reference === null ? { last_four: lastFour } : { secret_ref: reference }),
            ...(weight === 1 ? {} : { weight }),
            ...limitsToDocument(limits),
          })),
        }),
  }
}

/** Without the limits that a key does not have. */
function limitsToDocument(limits: KeyLimits) {
  const members = keyLimitsToWire(limits)
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

function proxyToDocument({
  url,
  username,
  hasPassword,
  passwordReference,
}: NonNullable<OfferedProvider['proxy']>): ProxyDocument {
  return {
    url,
    ...(username === null ? {} : { username }),
    ...(passwordReference !== null
      ? { password_ref: passwordReference }
      : hasPassword
        ? { has_password: true }
        : {}),
  }
}

/** Describes everything that operators added over the API. */
export function describeOffer(
  offered: {
    readonly providers: readonly OfferedProvider[]
    readonly models: readonly OfferedModel[]
    readonly prices: readonly OfferedPrice[]
  },
  { nowMs, fileEntryOf }: { readonly nowMs: number; readonly fileEntryOf: Offer['models']['fileEntryOf'] },
): Record<string, unknown> {
  const models = offered.models.filter(({ removedAtMs }) => removedAtMs === null)
  const own = new Map(models.map((model) => [model.id, model]))
  const prices = withoutRemoved(offered.prices, offered.models).filter(
    ({ withdrawnAtMs }) => withdrawnAtMs === null,
  )
  const current = new Map<string, OfferedPrice>()
  for (const price of prices.toSorted((left, right) => left.effectiveFromMs - right.effectiveFromMs))
    if (price.effectiveFromMs <= nowMs) current.set(price.model, price)
  const priceToDocument = (list: OfferedPrice): Record<string, unknown> => {
    const { model, price, isOfFile } = list
    const costs = costsInUse(list, () => own.get(model)?.entry ?? fileEntryOf(model)).map(withoutRates)
    return { model, ...(isOfFile ? {} : { price }), costs }
  }
  return {
    parkway: 1,
    providers: offered.providers.map(providerToDocument),
    models: models.map((model) => modelToDocument(model, current.get(model.id))),
    prices: [
      ...[...current.values()]
        .filter((price) => !own.has(price.model) && !isAsInFile(price, fileEntryOf(price.model)))
        .map(priceToDocument),
      ...prices
        .filter(({ effectiveFromMs }) => effectiveFromMs > nowMs)
        .map((price) => ({ ...priceToDocument(price), effective_from: toTimestamp(price.effectiveFromMs) })),
    ],
  }
}

/** `current` is the price list of now. */
function modelToDocument(
  { id, entry, visibility }: OfferedModel,
  current: OfferedPrice | undefined,
): Record<string, unknown> {
  return {
    id,
    ...giveCosts(entry, current?.costs ?? []),
    price: current?.price,
    ...(visibility === null ? {} : { visibility: visibilityToWire(visibility) }),
  }
}

export function readWanted({ providers, models, prices }: ConfigDocument): WantedConfiguration {
  return {
    providers: providers?.map(readProvider),
    models: models?.map(readModel),
    prices: prices?.map(({ model, price, costs, effective_from: from }) => ({
      model,
      price,
      costs,
      effectiveFromMs: from === undefined ? null : parseTimestamp('effective_from', from),
    })),
  }
}

function readProvider(document: ProviderDocument, index: number): WantedProvider {
  const { connect_ms: connectMs, first_byte_ms: firstByteMs, idle_ms: idleMs } = document.timeouts ?? {}
  return {
    name: document.name,
    vendor: document.vendor,
    baseUrl: document.base_url ?? null,
    wires: document.wires ?? null,
    allowedMembers: document.allow_members ?? [],
    headerNames: document.header_names ?? [],
    timeouts: {
      ...(connectMs === undefined ? {} : { connectMs }),
      ...(firstByteMs === undefined ? {} : { firstByteMs }),
      ...(idleMs === undefined ? {} : { idleMs }),
    },
    proxy:
      document.proxy === undefined ? null : readProxy(document.proxy, `document.providers.${index}.proxy`),
    certificateAuthority: document.certificate_authority ?? null,
    regions: document.regions ?? [],
    retentionDays: document.retention_days ?? null,
    isEnabled: document.is_enabled ?? true,
    credentials: (document.credentials ?? []).map((credential, at) =>
      readCredential(credential, `document.providers.${index}.credentials.${at}`),
    ),
  }
}

function readProxy(
  { url, username, password_ref: reference, has_password: isStored }: ProxyDocument,
  param: string,
): WantedProvider['proxy'] {
  if (reference !== undefined && isStored !== undefined)
    throw invalidValue(param, 'A proxy has either password_ref or has_password.')
  const password = reference !== undefined ? { reference } : isStored === true ? ('stored' as const) : null
  return { url, username: username ?? null, password }
}

function readCredential(
  credential: CredentialDocument,
  param: string,
): WantedProvider['credentials'][number] {
  const { secret_ref: reference, last_four: lastFour, weight = 1 } = credential
  const limits = { ...NO_KEY_LIMITS, ...readKeyLimits(credential, param) }
  if ((reference === undefined) === (lastFour === undefined))
    throw invalidValue(param, 'A credential has either secret_ref or last_four.')
  return { weight, limits, key: reference === undefined ? { lastFour: lastFour ?? null } : { reference } }
}

function readModel({ id, price, visibility = null, ...entry }: ModelDocument): WantedModel {
  return { id, entry, price, visibility: readVisibility(visibility) }
}
