import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import {
  giveCosts,
  withoutRates,
  type OfferedModel,
  type OfferedPrice,
  type OfferedProvider,
  type WantedConfiguration,
  type WantedModel,
  type WantedProvider,
} from '../../../modules/offer/offer.ts'
import { PriceList } from '../../../modules/catalog/catalog.ts'
import { NO_KEY_LIMITS, type KeyLimits } from '../../../providers/connection/key-limits.ts'
import { orNull } from '../../../wires/nullable.ts'
import { ModelId } from '../../../wires/usual-members.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { KeyLimitMembers, keyLimitsToWire, readKeyLimits } from '../operator/key-limit-forms.ts'
import { ProviderCreateBody } from '../operator/provider-forms.ts'
import { Costs, ModelCreateBody, readVisibility, visibilityToWire } from './model-wire.ts'

const {
  api_key: _key,
  api_keys: _keys,
  secret_ref: _ref,
  headers: _headers,
  proxy: _proxy,
  ...ofProvider
} = ProviderCreateBody.properties
const { reason: _reason, ...ofModel } = ModelCreateBody.properties

const CredentialDocument = Type.Object(
  {
    secret_ref: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'Where the key is read.' }),
    ),
    last_four: Type.Optional(
      orNull(
        Type.String({ maxLength: 4 }),
        'A key that is stored in this gateway, by its last four characters. It is in no file.',
      ),
    ),
    weight: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'Its share of the requests.' }),
    ),
    ...KeyLimitMembers,
  },
  { additionalProperties: false },
)

const ProxyDocument = Type.Object(
  {
    url: Type.String({ minLength: 1, maxLength: 500, description: 'Its address.' }),
    username: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Who signs in to it.' }),
    ),
    password_ref: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'Where the password is read.' }),
    ),
    has_password: Type.Optional(
      Type.Literal(true, { description: 'A password that is stored in this gateway. It is in no file.' }),
    ),
  },
  { additionalProperties: false, description: 'The proxy through which all its hosts are reached.' },
)

const ProviderDocument = Type.Object(
  {
    ...ofProvider,
    credentials: Type.Optional(Type.Array(CredentialDocument, { maxItems: 50, description: 'Its keys.' })),
    proxy: Type.Optional(ProxyDocument),
    header_names: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 50,
        description: 'Its further headers. Their values may be secrets, so that they are in no file.',
      }),
    ),
  },
  { additionalProperties: false },
)
type ProviderDocument = Static<typeof ProviderDocument>

const ModelDocument = Type.Object(ofModel, { additionalProperties: false })

const PriceDocument = Type.Object(
  {
    model: ModelId,
    price: PriceList,
    costs: Type.Optional(Costs),
    effective_from: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Of a price of the future. Without it, the price of now.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Everything that operators can change while the gateway runs, without secrets. */
export const ConfigDocument = Type.Object(
  {
    parkway: Type.Literal(1, { description: 'The form of this document.' }),
    providers: Type.Optional(
      Type.Array(ProviderDocument, {
        maxItems: 500,
        description: 'All providers that were added over the API. Absent: they stay as they are.',
      }),
    ),
    models: Type.Optional(
      Type.Array(ModelDocument, {
        maxItems: 2_000,
        description: 'All models that were added over the API. Absent: they stay as they are.',
      }),
    ),
    prices: Type.Optional(
      Type.Array(PriceDocument, {
        maxItems: 5_000,
        description:
          'Prices of now that models of the catalog file got over the API, and prices of the future. A model of the file that is not named has the price of the file. Absent: they stay as they are.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'ConfigDocument',
    description: 'Everything that operators add over the API, without secrets.',
  },
)

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
}: NonNullable<OfferedProvider['proxy']>): Static<typeof ProxyDocument> {
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
  nowMs: number,
): Record<string, unknown> {
  const models = offered.models.filter(({ removedAtMs }) => removedAtMs === null)
  const own = new Set(models.map(({ id }) => id))
  const removed = new Set(offered.models.flatMap(({ id }) => (own.has(id) ? [] : [id])))
  const prices = offered.prices.filter(
    ({ withdrawnAtMs, model }) => withdrawnAtMs === null && !removed.has(model),
  )
  const current = new Map<string, OfferedPrice>()
  for (const price of prices.toSorted((left, right) => left.effectiveFromMs - right.effectiveFromMs))
    if (price.effectiveFromMs <= nowMs) current.set(price.model, price)
  return {
    parkway: 1,
    providers: offered.providers.map(providerToDocument),
    models: models.map((model) => modelToDocument(model, current.get(model.id))),
    prices: [
      ...[...current.values()]
        .filter(({ model, isOfFile }) => !own.has(model) && !isOfFile)
        .map((price) => priceToDocument(price)),
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

function priceToDocument({ model, price, costs }: OfferedPrice): Record<string, unknown> {
  return { model, price, ...(costs === null || costs.length === 0 ? {} : { costs: costs.map(withoutRates) }) }
}

export function readWanted({
  providers,
  models,
  prices,
}: Static<typeof ConfigDocument>): WantedConfiguration {
  return {
    providers: providers?.map(readProvider),
    models: models?.map(readModel),
    prices: prices?.map(({ model, price, costs = [], effective_from: from }) => ({
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
  { url, username, password_ref: reference, has_password: isStored }: Static<typeof ProxyDocument>,
  param: string,
): WantedProvider['proxy'] {
  if (reference !== undefined && isStored !== undefined)
    throw invalidValue(param, 'A proxy has either password_ref or has_password.')
  const password = reference !== undefined ? { reference } : isStored === true ? ('stored' as const) : null
  return { url, username: username ?? null, password }
}

function readCredential(
  credential: Static<typeof CredentialDocument>,
  param: string,
): WantedProvider['credentials'][number] {
  const { secret_ref: reference, last_four: lastFour, weight = 1 } = credential
  const limits = { ...NO_KEY_LIMITS, ...readKeyLimits(credential, param) }
  if ((reference === undefined) === (lastFour === undefined))
    throw invalidValue(param, 'A credential has either secret_ref or last_four.')
  return { weight, limits, key: reference === undefined ? { lastFour: lastFour ?? null } : { reference } }
}

function readModel({ id, price, visibility = null, ...entry }: Static<typeof ModelDocument>): WantedModel {
  return { id, entry, price, visibility: readVisibility(visibility) }
}
