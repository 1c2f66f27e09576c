import { Type, type Static } from 'typebox'
import {
  DEPLOYMENT_STATUSES,
  type DeploymentOrder,
  type Deployments,
} from '../../../modules/deployments/deployments.ts'
import { nullable } from '../../../wires/nullable.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { ListQuery, listAnswer, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { baseUrlOf } from '../../parameters/base-url-of.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  BillAnswer,
  DeploymentAnswer,
  type DeploymentContext,
  EventAnswer,
  toBillAnswer,
  toDeploymentAnswer,
  toEventAnswer,
} from './deployment-wire.ts'

const IDLE_MINUTES_DEFAULT = 15
const IDLE_MINUTES_MAX = 7 * 24 * 60
const MODEL_LEN_MAX = 10_000_000

const DeploymentRequest = Type.Object(
  {
    huggingface_id: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The id of a model on the hub.',
    }),
    gpu_tier: nullable(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'A tier of `GET /v1/gpu-tiers`. The default is the cheapest on which the model fits.',
      }),
    ),
    name: nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The default is the last part of the model id.',
      }),
    ),
    quantization: nullable(
      Type.String({
        maxLength: 100,
        description: '`auto`, `fp16`, `bf16`, `fp8`, `int8`, `awq`, `gptq`, or that of a GGUF file.',
      }),
    ),
    idle_timeout_minutes: nullable(
      Type.Integer({
        minimum: 0,
        maximum: IDLE_MINUTES_MAX,
        description:
          'Minutes without a request after which the deployment sleeps. The default is 15. 0: never.',
      }),
    ),
    budget_limit_usd: nullable(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: USD_MAX,
        description: 'The deployment is stopped before its GPU costs more.',
      }),
    ),
    max_model_len: nullable(
      Type.Integer({ minimum: 1, maximum: MODEL_LEN_MAX, description: 'The longest context in tokens.' }),
    ),
    hf_token: nullable(
      Type.String({
        maxLength: 200,
        description:
          'Token for gated models. Stored encrypted for later starts, and deleted with the deployment.',
      }),
    ),
    revision: nullable(Type.String({ maxLength: 100, description: 'A branch, tag or commit.' })),
    env: nullable(
      Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 500 }), {
        description:
          'Environment variables of the engine, such as `VLLM_…`. Those of the hub, such as `HF_HOME`, are ignored.',
      }),
    ),
    expected_max_price_per_hr: nullable(
      Type.Number({
        minimum: 0,
        maximum: USD_MAX,
        description: 'The request is refused if the tier costs more now.',
      }),
    ),
  },
  {
    title: 'DeploymentRequest',
    examples: [
      { name: 'my-qwen', huggingface_id: 'Qwen/Qwen3-8B', gpu_tier: 'l40s_48gb', budget_limit_usd: 5 },
    ],
  },
)

const Params = Type.Object({ id: Type.String({ description: 'The id of a deployment.' }) })
const DeploymentListQuery = Type.Object({
  ...ListQuery.properties,
  status: Type.Optional(
    Type.Enum([...DEPLOYMENT_STATUSES], { description: 'Only deployments in this state.' }),
  ),
})
const EventQuery = Type.Object({
  ...ListQuery.properties,
  since: Type.Optional(Type.String({ maxLength: 64, description: 'Only events from this time on.' })),
})
const Deleted = Type.Object({
  id: Id,
  object: objectName('deployment'),
  deleted: Type.Boolean({ description: 'Whether it is deleted now.' }),
  ok: Type.Literal(true),
})

interface DeploymentRouteOptions {
  readonly deployments: Deployments
  readonly publicUrl: string | null
}

export const deploymentRoutes = ({ deployments, publicUrl }: DeploymentRouteOptions): Route[] => {
  const contextOf = async (headers: Parameters<typeof baseUrlOf>[0]): Promise<DeploymentContext> => ({
    baseUrl: publicUrl?.replace(/\/+$/, '') ?? baseUrlOf(headers),
    startTimes: await deployments.startTimes.read(),
  })

  const shared = { tag: 'Deployments' } as const
  const one = { ...shared, params: Params }
  const described = (description: string) => ({ 200: { description, schema: DeploymentAnswer } })

  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/deployments',
      access: inProject('deployments.manage'),
      takesTags: 'header',
      summary: 'Deploy a model',
      body: DeploymentRequest,
      otherErrors: [402, 409, 503],
      responses: { 201: { description: 'The deployment, which is starting.', schema: DeploymentAnswer } },
      handle: async ({ caller, body, reply, headers }) => {
        const deployment = await deployments.create(caller, toOrder(body))
        reply.code(201)
        return toDeploymentAnswer(deployment, await contextOf(headers))
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/deployments',
      access: inProject('deployments.read'),
      summary: 'List deployments',
      query: DeploymentListQuery,
      responses: {
        200: { description: 'Newest first.', schema: listSchema('deployments', DeploymentAnswer) },
      },
      handle: async ({ caller, query, headers }) => {
        const filter = { status: query.status ?? null }
        const page = await deployments.list(caller, parsePageRequest(query), filter)
        const context = await contextOf(headers)
        return listAnswer('deployments', page, (deployment) => toDeploymentAnswer(deployment, context))
      },
    }),
    defineRoute({
      ...one,
      method: 'GET',
      path: '/v1/deployments/:id',
      access: inProject('deployments.read'),
      summary: 'Read a deployment',
      responses: described('The deployment with its current status.'),
      handle: async ({ caller, params, headers }) =>
        toDeploymentAnswer(await deployments.read(caller, params.id), await contextOf(headers)),
    }),
    defineRoute({
      ...one,
      method: 'POST',
      path: '/v1/deployments/:id/start',
      access: inProject('deployments.manage'),
      summary: 'Start or wake a deployment',
      otherErrors: [402],
      responses: described('The deployment, which is starting.'),
      handle: async ({ caller, params, headers }) =>
        toDeploymentAnswer(
          await deployments.setDesiredState(caller, params.id, 'running'),
          await contextOf(headers),
        ),
    }),
    defineRoute({
      ...one,
      method: 'POST',
      path: '/v1/deployments/:id/stop',
      access: inProject('deployments.manage'),
      summary: 'Stop a deployment',
      responses: described('The deployment. Its GPU is released when requests in flight have ended.'),
      handle: async ({ caller, params, headers }) =>
        toDeploymentAnswer(
          await deployments.setDesiredState(caller, params.id, 'stopped'),
          await contextOf(headers),
        ),
    }),
    defineRoute({
      ...one,
      method: 'DELETE',
      path: '/v1/deployments/:id',
      access: inProject('deployments.manage'),
      summary: 'Delete a deployment',
      responses: {
        200: { description: 'The deployment is deleted. Its events can still be read.', schema: Deleted },
      },
      handle: async ({ caller, params }) => {
        await deployments.setDesiredState(caller, params.id, 'deleted')
        return { id: params.id, object: 'deployment', deleted: true, ok: true }
      },
    }),
    defineRoute({
      ...one,
      method: 'GET',
      path: '/v1/deployments/:id/events',
      access: inProject('deployments.read'),
      summary: 'List the events of a deployment',
      query: EventQuery,
      responses: { 200: { description: 'Oldest first.', schema: listSchema('events', EventAnswer) } },
      handle: async ({ caller, params, query }) => {
        const sinceMs = query.since === undefined ? null : parseTimestamp('since', query.since)
        const page = { ...parsePageRequest(query), sinceMs }
        const events = await deployments.listEvents(caller, params.id, page)
        return listAnswer('events', events, toEventAnswer)
      },
    }),
    defineRoute({
      ...one,
      method: 'GET',
      path: '/v1/deployments/:id/billing',
      access: inProject('deployments.read'),
      summary: 'Read the cost of a deployment',
      responses: { 200: { description: 'The cost until now.', schema: BillAnswer } },
      handle: async ({ caller, params }) => toBillAnswer(await deployments.readBill(caller, params.id)),
    }),
  ]
}

function toOrder(body: Static<typeof DeploymentRequest>): DeploymentOrder {
  const { budget_limit_usd: budget, expected_max_price_per_hr: most } = body
  return {
    name: body.name ?? null,
    huggingfaceId: body.huggingface_id,
    gpuTier: body.gpu_tier ?? null,
    quantization: body.quantization ?? 'auto',
    maxModelLen: body.max_model_len ?? null,
    revision: body.revision ?? null,
    hubToken: body.hf_token ?? null,
    env: body.env ?? {},
    idleTimeoutMinutes: body.idle_timeout_minutes ?? IDLE_MINUTES_DEFAULT,
    budgetLimitNanoUsd: typeof budget === 'number' ? parseUsd('budget_limit_usd', budget) : null,
    pricePerHourMaxNanoUsd: typeof most === 'number' ? parseUsd('expected_max_price_per_hr', most) : null,
  }
}
