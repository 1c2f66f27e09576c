import { Type, type Static } from 'typebox'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Probe } from '../../../modules/inference/inference.ts'
import { orNull } from '../../../wires/nullable.ts'
import { Id, ModelId, objectName } from '../../../wires/usual-members.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const UpstreamModel = Type.String({ description: "The provider's name of the model." })

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

const ProviderAnswer = Type.Object(
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
    operations: Type.Array(Type.String(), { description: 'What it can do here; empty if not configured.' }),
    models: Type.Array(ServedModel, { description: 'The models that have a route to it.' }),
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

const ProviderList = listSchema('providers', ProviderAnswer, {
  processes: Type.Integer({ description: 'How many processes of the gateway the figures cover.' }),
})

const TestParams = Type.Object({
  name: Type.String({ maxLength: 100, description: 'The id of a provider.' }),
})
const TestBody = Type.Object(
  {
    model: Type.Optional(
      Type.String({ maxLength: 256, description: 'A model with a route to it; the cheapest unless told.' }),
    ),
  },
  { additionalProperties: false, examples: [{ model: 'gpt-4o-mini' }] },
)
const TestAnswer = Type.Object(
  {
    object: objectName('provider_test'),
    provider: Type.String({ description: 'The provider that was tested.' }),
    model: ModelId,
    upstream_model: UpstreamModel,
    is_ok: Type.Boolean({ description: 'Whether it answered.' }),
    latency_ms: Type.Integer({ description: 'Milliseconds until the answer was complete.' }),
    status: orNull(Type.Integer(), "The provider's HTTP status, if it answered with an error."),
    failure: orNull(
      Type.Enum(['connect', 'local', 'timeout', 'status', 'invalid_answer', 'cut']),
      'The kind of failure.',
    ),
    message: orNull(Type.String(), 'What went wrong.'),
  },
  { title: 'ProviderTest' },
)

/** The status of providers over all processes, and test calls. */
export interface ProviderStatuses {
  list(): Promise<{ readonly statuses: readonly ProviderStatus[]; readonly processes: number }>
  /** Throws if there is no such provider or model, if it is not configured, or after too many tests. */
  prepareTest(
    name: string,
    model: string | undefined,
  ): {
    readonly model: string
    readonly upstreamModel: string
    run(cancellation: Cancellation): Promise<Probe>
  }
}

export const adminProviderRoutes = ({
  providers,
  audit,
}: {
  providers: ProviderStatuses
  audit: Audit
}): Route[] => {
  const shared = { tag: 'Operator' } as const
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/admin/providers',
      access: ofGateway('gateway.read'),
      summary: 'List providers with their state',
      responses: {
        200: { description: 'Every known provider, those that are configured first.', schema: ProviderList },
      },
      handle: async () => {
        const { statuses, processes } = await providers.list()
        return { ...wholeList('providers', statuses), processes }
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/admin/providers/:name/test',
      access: ofGateway('gateway.manage'),
      summary: 'Call a provider',
      params: TestParams,
      body: TestBody,
      otherErrors: [404, 429, 503],
      responses: { 200: { description: 'How the call went, also if it failed.', schema: TestAnswer } },
      handle: async ({ caller, params, body, exchange }) => {
        const test = providers.prepareTest(params.name, body.model)
        const probe = await audit.run(
          {
            actor: caller,
            action: 'provider.test',
            target: { kind: 'provider', id: params.name },
            details: { model: test.model },
          },
          async () => ({ id: params.name, ...(await test.run(exchange.cancellation)) }),
        )
        return {
          object: 'provider_test',
          provider: params.name,
          model: test.model,
          upstream_model: test.upstreamModel,
          is_ok: probe.isOk,
          latency_ms: probe.latencyMs,
          status: probe.status,
          failure: probe.failure,
          message: probe.message,
        }
      },
    }),
  ]
}
