import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { UsageRecord } from '../../../modules/usage/usage.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { ModelId, UuidId, objectName } from '../../../wires/usual-members.ts'
import { tagsField, tagsToWire } from './tags-wire.ts'
import { costFields, costToWire, tokenFields, tokensToWire, wireOf, WIRE_NAMES } from './usage-wire.ts'

const Id = Type.String({ format: 'uuid' })

export const RecordAnswer = Type.Object({
  id: UuidId,
  object: objectName('usage.record'),
  request_id: Type.String({ description: 'The `x-request-id` of the answer.' }),
  key_id: described(Id, 'The id of the API key.'),
  env: Type.String({ description: 'The environment of the key: `dev`, `test`, `live` or `prod`.' }),
  operation: Type.String({ description: 'What was asked: `chat`, `embedding`, `tts` and so on.' }),
  wire: orNull(Type.Enum([...WIRE_NAMES]), 'What the client spoke. Null where there is only one way to ask.'),
  model: ModelId,
  provider: Type.String({ description: 'The upstream that served it.' }),
  outcome: Type.Enum(['completed', 'disconnected', 'failed'], { description: 'How it ended.' }),
  ...tokenFields,
  ...costFields,
  uncovered_usd: Type.Number({
    description:
      'What the request cost beyond `cost_usd`, because neither what was held nor what else the account had could pay it. ' +
      'It is not charged.',
  }),
  latency_ms: Type.Integer({ description: 'Milliseconds until the answer was complete.' }),
  ttft_ms: orNull(Type.Integer(), 'How long the first token took. Null when the answer was not streamed.'),
  created_at: Type.String({ format: 'date-time', description: 'When the request began.' }),
  price_version: orNull(
    Type.String(),
    'The price list that it was charged by. Null before these were recorded.',
  ),
  batch: Type.Boolean({ description: 'Whether it was a line of a batch.' }),
  ...tagsField,
})

export function recordToWire(record: UsageRecord) {
  return {
    id: record.id,
    object: 'usage.record',
    request_id: `req_${record.id.replaceAll('-', '')}`,
    key_id: record.keyId,
    env: record.environment,
    operation: record.operation,
    wire: wireOf(record.operation),
    model: record.model,
    provider: record.provider,
    outcome: record.outcome,
    ...tokensToWire(record),
    ...costToWire(record),
    uncovered_usd: usdFromNanoUsd(record.uncoveredNanoUsd),
    latency_ms: record.latencyMs,
    ttft_ms: record.firstTokenMs,
    created_at: toTimestamp(record.createdAtMs),
    price_version: record.priceVersion,
    batch: record.isBatch,
    ...tagsToWire(record.labels),
  }
}
