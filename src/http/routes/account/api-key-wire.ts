import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { Page } from '../../../kernel/page.ts'
import {
  ENVIRONMENTS,
  SCOPES,
  type KeyChanges,
  type KeyRecord,
  type KeyRequest,
  type Keys,
} from '../../../modules/keys/keys.ts'
import type { Usage } from '../../../modules/usage/usage.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, UuidId } from '../../../wires/usual-members.ts'
import { listAnswer } from '../../answers/list-page.ts'
import { refuseUnhonoured } from '../../bodies/refuse-unhonoured.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { parseTagSettings, tagSettings, tagSettingsToWire } from './tag-settings-wire.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'

// Control characters are refused, because PostgreSQL cannot store NUL and names do not need the others.
export const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })
const ModelId = Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })
const Env = Type.Enum([...ENVIRONMENTS], { description: 'The environment the key names.' })
const Scopes = Type.Array(Type.Enum([...SCOPES]), {
  minItems: 1,
  maxItems: SCOPES.length,
  description:
    '`inference` uses models, `manage` manages the account, `admin` operates the gateway. A new key has the first two unless told.',
})
const AllowedModels = orNull(
  Type.Array(ModelId, { maxItems: 1000 }),
  'The only models the key may use. Null allows every model.',
)
const LimitUsd = orNull(
  Type.Number({ minimum: 0, maximum: USD_MAX }),
  'What the key may spend in all, with at most nine decimals. Null sets no limit.',
)
const RequestsPerMinute = orNull(
  Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  'How many requests the key may make a minute. Null leaves it to the account.',
)
const ExpiresAt = orNull(Type.String({ format: 'date-time' }), 'When the key stops working. Null for never.')

const KeySettings = {
  name: Type.Optional(described(Name, 'A name for people, without control characters.')),
  scopes: Type.Optional(Scopes),
  allowed_models: Type.Optional(AllowedModels),
  limit_usd: Type.Optional(LimitUsd),
  requests_per_minute: Type.Optional(RequestsPerMinute),
  expires_at: Type.Optional(ExpiresAt),
  ...tagSettings,
  pii_mode: Type.Optional(
    orNull(
      Type.String({ maxLength: 64 }),
      'Only `off`: this gateway does not redact personal data, and refuses keys that should.',
    ),
  ),
}

// Unknown members are refused, so that a misspelt or unsupported restriction cannot create a key without it.
const CLOSED = { additionalProperties: false }

export const KeyCreateBody = Type.Object(
  {
    ...KeySettings,
    env: Type.Optional(Env),
    project_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'The project of the key: `proj_…`. Unless told, that of the key that asks.',
      }),
    ),
  },
  CLOSED,
)

export const KeyUpdateBody = Type.Object(
  {
    ...KeySettings,
    is_active: Type.Optional(Type.Boolean({ description: 'False revokes the key for good.' })),
  },
  CLOSED,
)

const OVERLAP_SECONDS_USUAL = 86_400
const OVERLAP_SECONDS_MAX = 30 * 86_400

export const KeyRotateBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: OVERLAP_SECONDS_MAX,
        default: OVERLAP_SECONDS_USUAL,
        description: 'How long the former secret still works. 0 ends it at once.',
      }),
    ),
    end_former: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether a secret that still works from an earlier rotation ends now. Without it such a rotation is refused.',
      }),
    ),
  },
  CLOSED,
)

const keyFields = {
  id: UuidId,
  name: Type.String({ description: 'The name that people gave it.' }),
  env: Env,
  key_prefix: Type.String({ description: 'The beginning of the key, to recognise it by.' }),
  former_key: Type.Optional(
    Type.Object(
      {
        key_prefix: Type.String({ description: 'Its beginning.' }),
        ends_at: Type.String({ format: 'date-time', description: 'When it stops working.' }),
      },
      { description: 'The secret before the last rotation. Absent if it does not work any more.' },
    ),
  ),
  is_active: Type.Boolean({ description: 'False once revoked or expired.' }),
  created_at: CreatedAt,
  last_used_at: orNull(Type.String({ format: 'date-time' }), 'Within a minute.'),
  expires_at: ExpiresAt,
  limit_usd: LimitUsd,
  spent_usd: Type.Number({ description: 'What the key has spent so far.' }),
  allowed_models: AllowedModels,
  requests_per_minute: RequestsPerMinute,
  scopes: Scopes,
  project_id: Type.Optional(
    Type.String({ description: 'The only project that the key sees. Absent for a key of the account.' }),
  ),
  user_id: Type.Optional(Type.String({ description: 'The person it belongs to.' })),
  service_account_id: Type.Optional(Type.String({ description: 'The service account it belongs to.' })),
  ...tagSettings,
}

export const KeyAnswer = Type.Object(keyFields)

export const KeyCreatedAnswer = Type.Object({
  ...keyFields,
  key: Type.String({ description: 'The key itself. It is shown only here.' }),
})

export const KeyRevokedAnswer = Type.Object({
  revoked: Type.Literal(true),
  id: UuidId,
})

export interface KeyWire {
  /** For a new key, which has spent nothing. */
  fresh(key: KeyRecord): Static<typeof KeyAnswer>
  one(key: KeyRecord): Promise<Static<typeof KeyAnswer>>
  list(page: Page<KeyRecord>): Promise<Record<string, unknown>>
}

/** Formats keys for clients, with the amount that each has spent. */
export function createKeyWire({ keys, usage }: { keys: Keys; usage: Usage }): KeyWire {
  const toWire = (key: KeyRecord, spentNanoUsd: NanoUsd = 0n) =>
    keyToWire({ key, isActive: keys.isActive(key), former: formerToWire(key, keys), spentNanoUsd })
  return {
    fresh: (key) => toWire(key),
    one: async (key) => toWire(key, (await usage.spentByKeys([key.id])).get(key.id)),
    list: async (page) => {
      const spent = await usage.spentByKeys(page.items.map(({ id }) => id))
      return listAnswer('keys', page, (key) => toWire(key, spent.get(key.id)))
    },
  }
}

/** The former secret while it works. */
function formerToWire({ former }: KeyRecord, { isFormerActive }: Pick<Keys, 'isFormerActive'>) {
  if (former === null || !isFormerActive(former)) return null
  return { key_prefix: former.keyPrefix, ends_at: toTimestamp(former.endsAtMs) }
}

function keyToWire({
  key,
  isActive,
  former,
  spentNanoUsd,
}: {
  key: KeyRecord
  isActive: boolean
  former: { key_prefix: string; ends_at: string } | null
  spentNanoUsd: NanoUsd
}): Static<typeof KeyAnswer> {
  return {
    id: key.id,
    name: key.name,
    env: key.environment,
    key_prefix: key.keyPrefix,
    ...(isActive && former !== null && { former_key: former }),
    is_active: isActive,
    created_at: toTimestamp(key.createdAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : toTimestamp(key.lastUsedAtMs),
    expires_at: key.expiresAtMs === null ? null : toTimestamp(key.expiresAtMs),
    limit_usd: key.limitNanoUsd === null ? null : usdFromNanoUsd(key.limitNanoUsd),
    spent_usd: usdFromNanoUsd(spentNanoUsd),
    allowed_models: key.allowedModels === null ? null : [...key.allowedModels],
    requests_per_minute: key.requestsPerMinute,
    scopes: [...key.scopes],
    ...(key.projectId !== null && { project_id: wireId('project', key.projectId) }),
    ...(key.userId !== null && { user_id: wireId('user', key.userId) }),
    ...(key.serviceAccountId !== null && {
      service_account_id: wireId('serviceAccount', key.serviceAccountId),
    }),
    ...tagSettingsToWire(key),
  }
}

export function parseKeyRequest(body: Static<typeof KeyCreateBody>): KeyRequest {
  return {
    name: 'API key',
    ...(body.env !== undefined && { environment: body.env }),
    ...(body.project_id !== undefined && { projectId: projectIdOf(body.project_id) }),
    ...parseKeySettings(body),
  }
}

function projectIdOf(text: string): string {
  const id = parseWireId('project', text)
  if (id === null) throw notFound('project')
  return id
}

export function parseOverlap({ overlap_seconds: seconds }: Static<typeof KeyRotateBody>): number {
  return (seconds ?? OVERLAP_SECONDS_USUAL) * 1000
}

export function parseKeyChanges(body: Static<typeof KeyUpdateBody>): KeyChanges {
  return { ...parseKeySettings(body), ...(body.is_active !== undefined && { isActive: body.is_active }) }
}

function parseKeySettings(
  body: Omit<Static<typeof KeyUpdateBody>, 'is_active'>,
): Omit<KeyChanges, 'isActive'> {
  const { name, scopes, allowed_models, limit_usd, requests_per_minute, expires_at } = body
  refuseUnhonoured(body, ['pii_mode'])
  return {
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes: SCOPES.filter((scope) => scopes.includes(scope)) }),
    ...(allowed_models !== undefined && { allowedModels: allowed_models && [...new Set(allowed_models)] }),
    ...(limit_usd !== undefined && {
      limitNanoUsd: limit_usd === null ? null : parseUsd('limit_usd', limit_usd),
    }),
    ...(requests_per_minute !== undefined && { requestsPerMinute: requests_per_minute }),
    ...(expires_at !== undefined && {
      expiresAtMs: expires_at === null ? null : parseTimestamp('expires_at', expires_at),
    }),
    ...parseTagSettings(body),
  }
}
