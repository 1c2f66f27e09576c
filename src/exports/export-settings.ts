import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseJson } from '../kernel/json/parse-json.ts'
import { parseWebAddress } from '../kernel/parse-web-address.ts'
import { parseS3Url } from '../storage/media-store/s3-store.ts'

const CLOSED = { additionalProperties: false } as const
const SINKS_MAX = 8
const NAME = '^[a-z][a-z0-9_-]{0,39}$'
const Secret = Type.String({ minLength: 1, maxLength: 2_000, pattern: '^[!-~]+$' })
const Url = Type.String({ minLength: 1, maxLength: 1_000 })
const Headers = Type.Record(Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" }), Secret, {
  maxProperties: 20,
})

const COMMON = {
  /** Which requests it gets. */
  requests: Type.Optional(Type.Enum(['all', 'charged', 'failed'])),
}

const S3 = Type.Object(
  {
    kind: Type.Literal('s3'),
    url: Url,
    format: Type.Optional(Type.Enum(['jsonl', 'parquet'])),
    access_key_id: Type.Optional(Secret),
    secret_access_key: Type.Optional(Secret),
    collect_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600 })),
    ...COMMON,
  },
  CLOSED,
)
const Otlp = Type.Object(
  { kind: Type.Literal('otlp'), url: Url, headers: Type.Optional(Headers), ...COMMON },
  CLOSED,
)
const Webhook = Type.Object(
  {
    kind: Type.Literal('webhook'),
    url: Url,
    secret: Secret,
    ...COMMON,
  },
  CLOSED,
)
const Kafka = Type.Object(
  {
    kind: Type.Literal('kafka'),
    brokers: Type.Array(Type.String({ pattern: '^[A-Za-z0-9._-]{1,253}:[0-9]{1,5}$' }), {
      minItems: 1,
      maxItems: 20,
    }),
    topic: Type.String({ pattern: '^[A-Za-z0-9._-]{1,249}$' }),
    tls: Type.Optional(Type.Boolean()),
    mechanism: Type.Optional(Type.Enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])),
    username: Type.Optional(Secret),
    password: Type.Optional(Secret),
    ...COMMON,
  },
  CLOSED,
)

const Sink = Type.Union([S3, Otlp, Webhook, Kafka])

export type SinkSettings = Static<typeof Sink>
export type ExportSettings = Readonly<Record<string, SinkSettings>>

const FORMS = { s3: S3, otlp: Otlp, webhook: Webhook, kafka: Kafka } as const

/** Parses the setting: sinks by their names. Throws a `RangeError` that says what is wrong, without secrets. */
export function parseExportSettings(text: string): ExportSettings {
  const sinks = Object.entries(requireObject(text))
  if (sinks.length > SINKS_MAX) throw new RangeError(`at most ${SINKS_MAX} sinks`)
  return Object.fromEntries(sinks.map(([name, value]) => [name, parseSink(name, value)]))
}

function requireObject(text: string): object {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    throw new RangeError('a JSON object as in docs/exports.md')
  }
  if (!Value.Check(Type.Record(Type.String(), Type.Unknown()), value))
    throw new RangeError('a JSON object as in docs/exports.md')
  return value
}

function parseSink(name: string, value: unknown): SinkSettings {
  if (!new RegExp(NAME).test(name))
    throw new RangeError('sinks with names of lower-case letters, digits, - and _')
  const kind = Value.Check(Type.Object({ kind: Type.Enum(Object.keys(FORMS)) }), value) ? value.kind : null
  if (kind === null) throw new RangeError(`in ${name} a kind: ${Object.keys(FORMS).join(', ')}`)
  if (!Value.Check(Sink, value)) {
    const form = Object.entries(FORMS).find(([known]) => known === kind)?.[1] ?? Sink
    const [problem] = Value.Errors(form, value)
    throw new RangeError(`in ${name} ${problem?.instancePath || kind}: ${problem?.message ?? 'wrong'}`)
  }
  checkTogether(name, value)
  return value
}

/** What the form of single members does not say. */
function checkTogether(name: string, sink: SinkSettings): void {
  if (sink.kind === 's3') {
    try {
      parseS3Url(sink.url)
    } catch (error) {
      throw new RangeError(`in ${name} a url of the form ${error instanceof Error ? error.message : ''}`, {
        cause: error,
      })
    }
    if ((sink.access_key_id === undefined) !== (sink.secret_access_key === undefined))
      throw new RangeError(`in ${name} both access_key_id and secret_access_key, or neither`)
    return
  }
  if (sink.kind === 'kafka') {
    if ((sink.username === undefined) !== (sink.password === undefined))
      throw new RangeError(`in ${name} both username and password, or neither`)
    return
  }
  const url = parseWebAddress(sink.url)
  if (url === null || url.username !== '' || url.password !== '')
    throw new RangeError(`in ${name} a url with http:// or https://, without a user`)
}
