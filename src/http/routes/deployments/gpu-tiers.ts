import { Type } from 'typebox'
import { toTimestamp, type Clock } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import {
  DEPLOYMENT_TEMPLATES,
  type Deployments,
  type DeploymentTemplate,
} from '../../../modules/deployments/deployments.ts'
import { Id, UpdatedAt } from '../../../wires/usual-members.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const TierAnswer = Type.Object(
  {
    id: Type.String({ description: 'The value to send as `gpu_tier`.' }),
    gpu_name: Type.String({ description: 'The name of the GPU.' }),
    display_name: Type.String({ description: 'Equal to `gpu_name`.' }),
    gpu_count: Type.Integer({ description: 'Number of GPUs.' }),
    vram_gb: Type.Number({ description: 'Memory of all its GPUs together.' }),
    price_per_hour_usd: Type.Number({ description: 'Billed by the second.' }),
    price_per_hr_usd: Type.Number({ description: 'Equal to `price_per_hour_usd`.' }),
    available: Type.Boolean({ description: 'Whether a machine was free when the driver was last asked.' }),
    capacity: Type.String({ description: 'Number of free machines at that time.' }),
    provider: Type.String({ description: 'The driver that offers the tier.' }),
    region: Type.Union([Type.String(), Type.Null()], {
      description: 'Where the machines stand. `null`: not known.',
    }),
    updated_at: UpdatedAt,
  },
  { title: 'GpuTier' },
)

const TierList = listSchema('tiers', TierAnswer, {
  cached: Type.Boolean({ description: 'Whether the list may be up to a minute old.' }),
  updated_at: Type.String({ format: 'date-time', description: 'When the drivers were last asked.' }),
  age_seconds: Type.Integer({ description: 'Age of the list in seconds.' }),
})

const TemplateAnswer = Type.Object(
  {
    id: Id,
    name: Type.String({ description: 'The name of the tier.' }),
    huggingface_id: Type.String({ description: 'The id of the model on the hub.' }),
    gpu_tier: Type.String({ description: 'The recommended tier.' }),
    description: Type.String({ description: 'What it is for, in words.' }),
    tags: Type.Array(Type.String(), { description: 'Purposes of the model.' }),
    defaults: Type.Object(
      {
        quantization: Type.String({ description: 'How the weights are stored.' }),
        max_model_len: Type.Integer({ description: 'The longest context in tokens.' }),
        idle_timeout_minutes: Type.Integer({
          description: 'It sleeps after so long without a request. 0: never.',
        }),
      },
      { description: 'Recommended values of the request that creates the deployment.' },
    ),
  },
  { title: 'DeploymentTemplate' },
)

export const gpuTierRoutes = ({
  deployments,
  clock,
}: {
  deployments: Deployments
  clock: Clock
}): Route[] => {
  const shared = { tag: 'Deployments', access: ANY_KEY, method: 'GET' } as const
  const readTiers = async (caller: Parameters<Deployments['readTiers']>[0], isLive: boolean) => {
    const { tiers, readAtMs } = await deployments.readTiers(caller, isLive ? 0 : undefined)
    const updatedAt = toTimestamp(readAtMs)
    const data = tiers.map((tier) => ({
      id: tier.id,
      gpu_name: tier.gpuName,
      display_name: tier.gpuName,
      gpu_count: tier.gpuCount,
      vram_gb: tier.vramGb,
      price_per_hour_usd: usdFromNanoUsd(tier.pricePerHourNanoUsd),
      price_per_hr_usd: usdFromNanoUsd(tier.pricePerHourNanoUsd),
      available: tier.availableCount > 0,
      capacity: String(tier.availableCount),
      provider: tier.driverId,
      region: tier.region,
      updated_at: updatedAt,
    }))
    const ageSeconds = Math.max(0, Math.floor((clock.nowMs() - readAtMs) / 1000))
    return { ...wholeList('tiers', data), cached: !isLive, updated_at: updatedAt, age_seconds: ageSeconds }
  }

  return [
    defineRoute({
      ...shared,
      path: '/v1/gpu-tiers',
      summary: 'List GPU tiers',
      responses: {
        200: { description: 'The tiers this key may use, at most a minute old.', schema: TierList },
      },
      handle: ({ caller }) => readTiers(caller, false),
    }),
    defineRoute({
      ...shared,
      path: '/v1/gpu-tiers/live',
      summary: 'List GPU tiers as they are now',
      responses: { 200: { description: 'The tiers this key may use.', schema: TierList } },
      handle: ({ caller }) => readTiers(caller, true),
    }),
    defineRoute({
      ...shared,
      path: '/v1/deployment-templates',
      summary: 'List recommended deployments',
      responses: {
        200: { description: 'From small to large.', schema: listSchema('templates', TemplateAnswer) },
      },
      handle: async () => wholeList('templates', DEPLOYMENT_TEMPLATES.map(toTemplateAnswer)),
    }),
  ]
}

function toTemplateAnswer({ huggingfaceId, gpuTier, defaults, ...template }: DeploymentTemplate): object {
  return {
    ...template,
    huggingface_id: huggingfaceId,
    gpu_tier: gpuTier,
    defaults: {
      quantization: defaults.quantization,
      max_model_len: defaults.maxModelLen,
      idle_timeout_minutes: defaults.idleTimeoutMinutes,
    },
  }
}
