import { Type, type Static } from 'typebox'
import { orNull } from '../../../wires/nullable.ts'
import { CreatedAt, Id, ModelId, objectName } from '../../../wires/usual-members.ts'

export const UpstreamModel = Type.String({ description: "The provider's name of the model." })

const Breaker = Type.Object(
  {
    state: Type.Enum(['closed', 'half-open', 'open'], {
      description: 'The worst over all processes. While it is open, requests use other routes.',
    }),
    accounts: Type.Integer({ description: 'Accounts that are kept away because only their requests fail.' }),
  },
  { description: 'The circuit breaker of this model at this provider.' },
)

const ServedModel = Type.Object({
  model: ModelId,
  upstream_model: UpstreamModel,
  category: Type.String({
    description: 'What the model does: `llm`, `image`, `video`, `tts`, `stt` and so on.',
  }),
  priority: Type.Integer({ description: 'Lower ones are tried first.' }),
  weight: Type.Number({ description: 'The share among routes of the same priority.' }),
  price_file: Type.String({
    description: 'Where its price comes from: `built-in`, or the catalog file of the operator.',
  }),
  breaker: Breaker,
})

const CredentialAnswer = Type.Object({
  id: Id,
  ends_with: orNull(
    Type.String(),
    'The last four characters of the key. Null for a short key and for a reference.',
  ),
  secret_ref: orNull(Type.String(), 'Where the key is read: `env:NAME` or `file:/path`. Null: it is stored.'),
  weight: Type.Integer({ description: 'Its share of the requests, in relation to the others.' }),
  requests_per_minute: orNull(Type.Integer(), 'How many requests a minute it gets. Null: no limit.'),
  tokens_per_minute: orNull(Type.Integer(), 'How many tokens a minute it gets. Null: no limit.'),
  budget_usd_per_day: orNull(Type.Number(), 'For how many dollars a day (UTC) it is used. Null: no limit.'),
  problem: orNull(Type.String(), 'Why this process cannot read the key. Null if it can.'),
  created_at: CreatedAt,
})

const taken = (unit: string, window: string) =>
  orNull(
    Type.Object({
      limit: Type.Number({ description: `How many ${unit} it gets.` }),
      used: Type.Number({ description: `How many ${unit} it got ${window}, over all processes.` }),
    }),
    'Null: no limit.',
  )

const LimitedKey = Type.Object({
  id: Type.String({
    description: 'Of the credential, or a name of the gateway for a key of the configuration.',
  }),
  ends_with: orNull(Type.String(), 'The last four characters of the key, if they are shown.'),
  secret_ref: orNull(Type.String(), 'Where the key is read.'),
  requests_per_minute: taken('requests', 'in the last minute'),
  tokens_per_minute: taken('tokens', 'in the last minute'),
  budget_usd_per_day: taken('dollars', 'today (UTC)'),
  is_used_up: Type.Boolean({ description: 'Whether requests use other keys now.' }),
})

const time = (description: string) => orNull(Type.String({ format: 'date-time' }), description)

/** What an operator configured. */
const Configured = {
  source: orNull(
    Type.Enum(['file', 'database']),
    '`file`: the environment or the configuration file, which only whoever runs the gateway changes. `database`: this API. Null: it is not configured.',
  ),
  vendor: orNull(Type.String(), 'Its vendor. Null for a server of your own.'),
  is_enabled: Type.Boolean({ description: 'Whether requests are sent to it if it is configured.' }),
  base_url: orNull(
    Type.String(),
    'Its address. Null: that of the vendor, or one of the configuration, of which only the host is shown.',
  ),
  wires: orNull(
    Type.Array(Type.String()),
    'The wires that it speaks besides OpenAI chat. Null: those of its vendor.',
  ),
  allow_members: Type.Array(Type.String(), {
    description: 'Request members that are passed on although they change the bill.',
  }),
  headers: Type.Array(Type.String(), { description: 'The names of its further headers.' }),
  timeouts: Type.Object(
    {
      connect_ms: orNull(Type.Integer(), 'Milliseconds until a connection must be made. Null: as usual.'),
      first_byte_ms: orNull(Type.Integer(), 'Milliseconds until an answer must begin. Null: as usual.'),
      idle_ms: orNull(Type.Integer(), 'Milliseconds between two parts of an answer. Null: as usual.'),
    },
    { description: 'Its own time limits.' },
  ),
  proxy: orNull(
    Type.Object({
      url: Type.String({ description: 'Its address.' }),
      username: orNull(Type.String(), 'Who signs in to it.'),
      has_password: Type.Boolean({ description: 'Whether it gets a password.' }),
      password_ref: orNull(
        Type.String(),
        'Where the password is read. Null: it is stored, or there is none.',
      ),
    }),
    'The proxy through which all its hosts are reached. Null: directly.',
  ),
  certificate_authority: orNull(
    Type.String(),
    'What is trusted besides the usual certificate authorities: certificates in PEM, or `file:/path`.',
  ),
  regions: Type.Array(Type.String(), { description: 'Where the vendor promises to work.' }),
  retention_days: orNull(
    Type.Integer(),
    'How many days the vendor promises to keep prompts and answers at most. Null: it promises nothing.',
  ),
  credentials: Type.Array(CredentialAnswer, {
    description: 'Its keys, if they were given over this API, without the secrets.',
  }),
  problem: orNull(Type.String(), 'Why it does not serve as configured. Null if nothing is wrong.'),
  created_at: time('When it was added over this API.'),
  updated_at: time('When it was last changed over this API.'),
}

export const ProviderAnswer = Type.Object(
  {
    id: Id,
    object: objectName('provider'),
    is_configured: Type.Boolean({ description: 'Whether its models are served.' }),
    missing: Type.Array(Type.String(), {
      description:
        'The settings that have to be set before its models are served. Empty if it is configured.',
    }),
    base_url_host: orNull(
      Type.String(),
      "The host of its address; null if the vendor's own client knows it.",
    ),
    keys: Type.Integer({ description: 'How many API keys of it are configured.' }),
    ...Configured,
    operations: Type.Array(Type.String(), { description: 'What it can do here; empty if not configured.' }),
    models: Type.Array(ServedModel, { description: 'The models that have a route to it.' }),
    limited_keys: Type.Array(LimitedKey, {
      description: 'Its keys that have limits, with what they took of them.',
    }),
    recent: Type.Object(
      {
        window_seconds: Type.Integer({ description: 'The time that the figures cover.' }),
        requests: Type.Integer({ description: 'Calls of the provider, with retries.' }),
        errors: Type.Integer({ description: 'Calls that failed.' }),
        error_share: orNull(Type.Number(), 'Errors divided by requests.'),
        latency_ms: Type.Object(
          {
            p50: orNull(Type.Number(), 'Of the requests that it answered, estimated.'),
            p95: orNull(Type.Number(), 'Of the requests that it answered, estimated.'),
          },
          { description: 'Milliseconds until the answer was complete.' },
        ),
      },
      { description: 'What happened in the last minutes.' },
    ),
  },
  { title: 'ProviderStatus' },
)
export type ProviderStatus = Static<typeof ProviderAnswer>
