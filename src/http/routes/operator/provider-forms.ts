import { Type, type Static, type TProperties } from 'typebox'
import type {
  DraftCredential,
  NewCredential,
  ProviderDraft,
  ProviderPatch,
} from '../../../modules/offer/offer.ts'
import { NO_KEY_LIMITS } from '../../../providers/connection/key-limits.ts'
import { NATIVE_WIRES } from '../../../providers/native-wire.ts'
import { invalidValue } from '../../../kernel/app-error.ts'
import { orNull } from '../../../wires/nullable.ts'
import { KeyLimitMembers, readKeyLimits } from './key-limit-forms.ts'

const TimeLimit = Type.Integer({ minimum: 1, maximum: 3_600_000 })
const Weight = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description: 'Its share of the requests, in relation to the others. 1 unless told.',
})
const Key = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'The key itself. It is stored encrypted, and later only its last four characters are shown.',
})
const Reference = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'Where the key is read instead: `env:NAME`, or `file:/run/secrets/name`.',
})

const Credential = Type.Object(
  {
    api_key: Type.Optional(Key),
    secret_ref: Type.Optional(Reference),
    weight: Type.Optional(Weight),
    ...KeyLimitMembers,
  },
  { additionalProperties: false },
)
const ChangedCredential = Type.Object(
  {
    id: Type.Optional(Type.String({ maxLength: 100, description: 'Of a credential that stays.' })),
    api_key: Type.Optional(Key),
    secret_ref: Type.Optional(Reference),
    weight: Type.Optional(Weight),
    ...KeyLimitMembers,
  },
  { additionalProperties: false },
)
const TimeLimits = {
  connect_ms: Type.Optional(orNull(TimeLimit, 'Milliseconds until a connection must be made.')),
  first_byte_ms: Type.Optional(orNull(TimeLimit, 'Milliseconds until an answer must begin.')),
  idle_ms: Type.Optional(orNull(TimeLimit, 'Milliseconds that may pass between two parts of an answer.')),
}
const Proxy = {
  url: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: '`http://host:port`, or `https://host:port`.' }),
  ),
  username: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 256 }), 'It is shown again.')),
  password: Type.Optional(
    orNull(Type.String({ minLength: 1, maxLength: 1024 }), 'It is stored encrypted, and not shown again.'),
  ),
  password_ref: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, description: 'Where the password is read instead.' }),
  ),
} satisfies TProperties
const shared = {
  base_url: Type.Optional(
    orNull(
      Type.String({ minLength: 1, maxLength: 500 }),
      "Its address with the path of the version. Without it, the vendor's own.",
    ),
  ),
  wires: Type.Optional(
    orNull(
      Type.Array(Type.Enum([...NATIVE_WIRES]), { maxItems: NATIVE_WIRES.length }),
      'The wires that it speaks besides OpenAI chat. Without it, those of its vendor.',
    ),
  ),
  allow_members: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 100,
      description: 'Request members that are passed on although they change the bill.',
    }),
  ),
  timeouts: Type.Optional(
    Type.Object(TimeLimits, {
      additionalProperties: false,
      description: 'Its time limits. Those of a route come first; null is the limit of the gateway.',
    }),
  ),
  proxy: Type.Optional(
    orNull(
      Type.Object(Proxy, { additionalProperties: false }),
      'The proxy through which all its hosts are reached. Null: directly. What is absent stays.',
    ),
  ),
  certificate_authority: Type.Optional(
    orNull(
      Type.String({ minLength: 1, maxLength: 65_536 }),
      'What is trusted besides the usual certificate authorities: certificates in PEM, or `file:/path` in a directory of secrets.',
    ),
  ),
  regions: Type.Optional(
    Type.Array(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }), {
      maxItems: 50,
      uniqueItems: true,
      description: 'Where the vendor promises to work, for example `eu` or `eu-central-1`. Only shown.',
    }),
  ),
  retention_days: Type.Optional(
    orNull(
      Type.Integer({ minimum: 0, maximum: 36_500 }),
      'How many days the vendor promises to keep prompts and answers at most. Only shown.',
    ),
  ),
  is_enabled: Type.Optional(Type.Boolean({ description: 'Whether requests are sent to it.' })),
} satisfies TProperties

const Header = Type.String({ maxLength: 2048 })

const draft = {
  name: Type.String({
    minLength: 1,
    maxLength: 64,
    description: "Its name in routes. A vendor's id, or a name of your own.",
  }),
  vendor: Type.Optional(
    orNull(
      Type.String({ minLength: 1, maxLength: 64 }),
      'The vendor, if the name is your own. Null for a server of your own that speaks the OpenAI wire.',
    ),
  ),
  api_key: Type.Optional(Key),
  api_keys: Type.Optional(
    Type.Array(Key, { maxItems: 50, description: 'Several keys with the same weight.' }),
  ),
  secret_ref: Type.Optional(Reference),
  credentials: Type.Optional(
    Type.Array(Credential, {
      maxItems: 50,
      description: 'Keys with weights, each with `api_key` or `secret_ref`.',
    }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String({ maxLength: 64 }), Header, {
      description: 'Further headers of every request, by name. Their values are not shown again.',
    }),
  ),
  ...shared,
} satisfies TProperties

const EXAMPLE = { name: 'basement', api_key: 'key-of-the-server', base_url: 'http://10.0.0.7:8000/v1' }

export const ProviderCreateBody = Type.Object(draft, { additionalProperties: false, examples: [EXAMPLE] })

export const ProviderTryBody = Type.Object(
  {
    ...draft,
    model: Type.Optional(
      Type.String({ maxLength: 256, description: 'A model with a route to it; the cheapest unless told.' }),
    ),
    upstream_model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "The provider's name of a chat model, if no model of the catalog has a route to it.",
      }),
    ),
  },
  { additionalProperties: false, examples: [EXAMPLE] },
)

export const ProviderChangeBody = Type.Object(
  {
    credentials: Type.Optional(
      Type.Array(ChangedCredential, {
        maxItems: 50,
        description:
          'All credentials from now on: those that stay by `id`, new ones with `api_key` or `secret_ref`. The others end.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String({ maxLength: 64 }), orNull(Header), {
        description: 'Headers to set, by name; null removes one. The others stay.',
      }),
    ),
    ...shared,
  },
  {
    additionalProperties: false,
    minProperties: 1,
    examples: [{ timeouts: { first_byte_ms: 30_000 } }],
  },
)

export function readDraft(body: Static<typeof ProviderCreateBody>): ProviderDraft {
  const { api_key: apiKey, api_keys: apiKeys = [], secret_ref: reference, credentials = [] } = body
  return {
    name: body.name,
    vendor: body.vendor,
    headers: body.headers,
    ...readShared(body),
    credentials: [
      ...[...(apiKey === undefined ? [] : [apiKey]), ...apiKeys].map((key) => ({
        source: { secret: key.trim() },
        weight: 1,
        limits: NO_KEY_LIMITS,
      })),
      ...(reference === undefined ? [] : [{ source: { reference }, weight: 1, limits: NO_KEY_LIMITS }]),
      ...credentials.map((one, index) => readNew(one, `credentials.${index}`)),
    ],
  }
}

export function readPatch(body: Static<typeof ProviderChangeBody>): ProviderPatch {
  return { ...readShared(body), headers: body.headers, credentials: body.credentials?.map(readChanged) }
}

type SharedBody = Pick<
  Static<typeof ProviderCreateBody>,
  | 'base_url'
  | 'wires'
  | 'allow_members'
  | 'timeouts'
  | 'proxy'
  | 'certificate_authority'
  | 'regions'
  | 'retention_days'
  | 'is_enabled'
>

function readShared({ timeouts, ...body }: SharedBody) {
  return {
    baseUrl: body.base_url,
    wires: body.wires,
    allowedMembers: body.allow_members,
    isEnabled: body.is_enabled,
    proxy: readProxy(body.proxy),
    certificateAuthority: body.certificate_authority,
    regions: body.regions,
    retentionDays: body.retention_days,
    timeouts:
      timeouts === undefined
        ? undefined
        : {
            ...(timeouts.connect_ms === undefined ? {} : { connectMs: timeouts.connect_ms }),
            ...(timeouts.first_byte_ms === undefined ? {} : { firstByteMs: timeouts.first_byte_ms }),
            ...(timeouts.idle_ms === undefined ? {} : { idleMs: timeouts.idle_ms }),
          },
  }
}

function readProxy(proxy: SharedBody['proxy']): ProviderDraft['proxy'] {
  if (proxy === undefined || proxy === null) return proxy
  const { url, username, password, password_ref: reference } = proxy
  if (password !== undefined && reference !== undefined)
    throw invalidValue('proxy', 'A proxy has either password or password_ref.')
  return {
    url,
    username,
    password:
      reference !== undefined
        ? { reference }
        : typeof password === 'string'
          ? { secret: password }
          : password,
  }
}

function readChanged(credential: Static<typeof ChangedCredential>, index: number): DraftCredential {
  const { id, weight = null, ...source } = credential
  const param = `credentials.${index}`
  const limits = readKeyLimits(credential, param)
  if (id === undefined) return readNew(credential, param)
  if (source.api_key !== undefined || source.secret_ref !== undefined)
    throw invalidValue(
      param,
      'A credential that stays keeps its key. Add a new one and leave the old one out.',
    )
  return { id, weight, limits }
}

function readNew(credential: Static<typeof Credential>, param: string): NewCredential {
  const { api_key: apiKey, secret_ref: reference, weight = 1 } = credential
  const limits = { ...NO_KEY_LIMITS, ...readKeyLimits(credential, param) }
  if ((apiKey === undefined) === (reference === undefined))
    throw invalidValue(param, 'A credential has either api_key or secret_ref.')
  if (apiKey !== undefined) return { source: { secret: apiKey.trim() }, weight, limits }
  return { source: { reference: reference ?? '' }, weight, limits }
}
