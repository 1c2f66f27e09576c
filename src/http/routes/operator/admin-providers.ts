import { Type, type Static } from 'typebox'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { ProviderChange } from '../../../modules/offer/offer.ts'
import type { Probe } from '../../../modules/inference/inference.ts'
import { orNull } from '../../../wires/nullable.ts'
import { Id, ModelId, objectName } from '../../../wires/usual-members.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ProviderAnswer, UpstreamModel, type ProviderStatus } from './provider-answer.ts'

const VendorAnswer = Type.Object({
  id: Id,
  object: objectName('vendor'),
  default_base_url: orNull(
    Type.String(),
    "The vendor's address. Null: an address has to be given, or the vendor's own client knows it.",
  ),
  needs_key: Type.Boolean({ description: 'Whether it does not work without a key.' }),
  needs_base_url: Type.Boolean({ description: 'Whether it does not work without an address.' }),
  lists_models: Type.Boolean({ description: 'Whether the models that a key can see can be listed.' }),
})
const ProviderList = listSchema('providers', ProviderAnswer, {
  processes: Type.Integer({ description: 'How many processes of the gateway the figures cover.' }),
  vendors: Type.Array(VendorAnswer, {
    description: 'The vendors that a provider can be of, by name or under a name of your own.',
  }),
  first_provider_ends: Type.Array(Type.String(), {
    description: 'What ends when the first provider is added. Empty if there is one.',
  }),
})

export const ProviderParams = Type.Object({
  name: Type.String({ maxLength: 100, description: 'The id of a provider.' }),
})
const TestBody = Type.Object(
  {
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
  { additionalProperties: false, examples: [{ model: 'gpt-5.6-luna' }] },
)
export const TestAnswer = Type.Object(
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
  list(): Promise<{
    readonly statuses: readonly ProviderStatus[]
    readonly processes: number
    readonly vendors: readonly Static<typeof VendorAnswer>[]
    readonly firstProviderEnds: readonly string[]
  }>
  /** Throws if there is no such provider. */
  read(name: string): Promise<ProviderStatus>
  /** Throws if there is no such provider or model, if it is not configured, or after too many tests. */
  prepareTest(name: string, wanted: WantedModel): ProviderTest
  /** The same for a provider that is not stored. */
  prepareTestOf(change: ProviderChange, wanted: WantedModel): ProviderTest
  /** Returns the names of the models that a key of the provider can see. */
  listModels(name: string, cancellation: Cancellation): Promise<readonly string[]>
}

interface WantedModel {
  readonly model?: string | undefined
  readonly upstreamModel?: string | undefined
}

interface ProviderTest {
  readonly model: string
  readonly upstreamModel: string
  run(cancellation: Cancellation): Promise<Probe>
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
        const { statuses, processes, vendors, firstProviderEnds } = await providers.list()
        return {
          ...wholeList('providers', statuses),
          processes,
          vendors,
          first_provider_ends: firstProviderEnds,
        }
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/admin/providers/:name/test',
      access: ofGateway('gateway.manage'),
      summary: 'Call a provider',
      params: ProviderParams,
      body: TestBody,
      otherErrors: [404, 429, 503],
      responses: { 200: { description: 'How the call went, also if it failed.', schema: TestAnswer } },
      handle: async ({ caller, params, body, exchange }) => {
        const test = providers.prepareTest(params.name, {
          model: body.model,
          upstreamModel: body.upstream_model,
        })
        const probe = await audit.run(
          {
            actor: caller,
            action: 'provider.test',
            target: { kind: 'provider', id: params.name },
            details: { model: test.model },
          },
          async () => ({ id: params.name, ...(await test.run(exchange.cancellation)) }),
        )
        return testToWire(params.name, test, probe)
      },
    }),
  ]
}

export function testToWire(
  provider: string,
  { model, upstreamModel }: Pick<ProviderTest, 'model' | 'upstreamModel'>,
  { isOk, latencyMs, status, failure, message }: Probe,
): Static<typeof TestAnswer> {
  return {
    object: 'provider_test',
    provider,
    model,
    upstream_model: upstreamModel,
    is_ok: isOk,
    latency_ms: latencyMs,
    status,
    failure,
    message,
  }
}
