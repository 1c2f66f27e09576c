import { Type, type Static } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import {
  CACHE_STATUSES,
  type Assessment,
  type CacheStatus,
  type Deployments,
  type TierPreview,
} from '../../../modules/deployments/deployments.ts'
import { invalidValue } from '../../../kernel/app-error.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const HubId = Type.String({ minLength: 1, maxLength: 200, description: 'The id of a model on the hub.' })
const MODEL_LEN_MAX = 10_000_000
const ModelLen = Type.Integer({
  minimum: 1,
  maximum: MODEL_LEN_MAX,
  description: 'The longest context in tokens.',
})
const Quantization = Type.String({
  maxLength: 100,
  description: 'The quantization to deploy. `auto` uses the stored weights.',
})

const ValidateRequest = Type.Object(
  {
    huggingface_id: nullable(HubId),
    model_id: nullable(Type.String({ maxLength: 200, description: 'The same as `huggingface_id`.' })),
    hf_token: nullable(
      Type.String({ maxLength: 200, description: 'Token for gated models. It is not stored.' }),
    ),
    quantization: nullable(Quantization),
    max_model_len: nullable(ModelLen),
  },
  { title: 'HubValidationRequest', examples: [{ huggingface_id: 'Qwen/Qwen3-8B' }] },
)

const ValidateAnswer = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether the model can be deployed.' }),
    ghost_test_passed: Type.Boolean({
      description: 'The same as `valid`: the model passed all checks that need no GPU.',
    }),
    model_id: Type.String({ description: 'The id of the model.' }),
    revision: orNull(Type.String({ description: 'The commit that was checked.' })),
    architecture: orNull(Type.String({ description: 'The class that implements it.' })),
    model_type: orNull(Type.String({ description: 'The model family from its config.' })),
    parameters: orNull(Type.Integer({ description: 'Number of parameters.' })),
    format: orNull(Type.String({ description: '`safetensors`, `gguf`, `pickle` or `none`.' })),
    gated: Type.Boolean({ description: 'Whether the hub requires a token.' }),
    license: orNull(Type.String({ description: 'The licence from the model card.' })),
    vllm_compatible: Type.Boolean({ description: 'Whether vLLM can load its files.' }),
    llama_cpp_compatible: Type.Boolean({ description: 'Whether llama.cpp can load its files.' }),
    vram_fp16_gb: orNull(Type.Number({ description: 'Memory of the weights in 16 bits.' })),
    vram_int8_gb: orNull(Type.Number({ description: 'Memory of the weights in 8 bits.' })),
    vram_int4_gb: orNull(Type.Number({ description: 'Memory of the weights in 4 bits.' })),
    kv_cache_gb: orNull(
      Type.Number({ description: 'Memory of the cache of one request of the longest context.' }),
    ),
    max_context: orNull(Type.Integer({ description: 'The longest context that the model supports.' })),
    recommended_gpu_tier: orNull(Type.String({ description: 'The cheapest tier on which the model fits.' })),
    warnings: Type.Array(Type.String(), { description: 'Warnings before a deployment.' }),
    errors: Type.Array(Type.String(), { description: 'Reasons why the model cannot be deployed.' }),
  },
  { title: 'HubValidation' },
)

const PreviewQuery = Type.Object({
  huggingface_id: HubId,
  gpu_tier: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'A tier of `GET /v1/gpu-tiers`. The default is the cheapest on which the model fits.',
    }),
  ),
  quantization: Type.Optional(Quantization),
  max_model_len: Type.Optional(ModelLen),
})

const PreviewAnswer = Type.Object(
  {
    huggingface_id: Type.String({ description: 'The id of the model on the hub.' }),
    gpu_tier: Type.String({ description: 'The tier from the request, or the one that was chosen.' }),
    compatible: Type.Boolean({ description: 'Whether the model can run on the tier.' }),
    fit: Type.Enum(['fits', 'tight', 'no'], {
      description: '`tight` leaves hardly any room for a second request.',
    }),
    provider: Type.String({ description: 'The driver that offers the tier.' }),
    eta_minutes: Type.Integer({ description: 'Estimated duration of a start in minutes.' }),
    hourly_cost_usd: Type.Number({ description: 'Price in dollars per hour, billed by the second.' }),
    required_vram_gb: orNull(
      Type.Number({ description: 'Memory for the weights, the cache of one request, and the engine.' }),
    ),
    weights_gb: orNull(Type.Number({ description: 'The part of it for the weights.' })),
    cache_gb: orNull(Type.Number({ description: 'The part of it for the cache of one request.' })),
    overhead_gb: orNull(Type.Number({ description: 'The part of it for the engine itself.' })),
    available_vram_gb: Type.Number({ description: 'Memory of the tier that an engine may use.' }),
    max_fitting_model_len: Type.Integer({ description: 'The longest context that fits. 0: none.' }),
    is_cached: Type.Boolean({
      description: 'Whether all files that an engine needs are in the model cache.',
    }),
    cache_status: Type.Enum([...CACHE_STATUSES], {
      description: 'How much of them is. `none` for a driver with a cache elsewhere.',
    }),
    alternatives: Type.Array(Type.String(), {
      description: 'Other tiers on which the model fits, cheapest first.',
    }),
    notes: Type.String({ description: 'Further remarks.' }),
  },
  { title: 'DeploymentPreview' },
)

export const hubModelRoutes = ({ deployments }: { deployments: Deployments }): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/hf/validate',
    summary: 'Validate a model of the hub',
    tag: 'Deployments',
    access: ANY_KEY,
    body: ValidateRequest,
    responses: {
      200: {
        description: 'Facts about the model, also if it cannot be deployed.',
        schema: ValidateAnswer,
      },
    },
    handle: async ({ caller, body }) => {
      const huggingfaceId = body.huggingface_id ?? body.model_id ?? ''
      if (huggingfaceId === '')
        throw invalidValue('huggingface_id', 'huggingface_id must be the id of a model on the hub.')
      const assessment = await deployments.assess(caller, {
        huggingfaceId,
        quantization: body.quantization ?? 'auto',
        maxModelLen: body.max_model_len ?? null,
        token: body.hf_token ?? null,
      })
      return toValidateAnswer(huggingfaceId, assessment)
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/deployments/preview',
    summary: 'Estimate whether a model fits on a tier',
    tag: 'Deployments',
    access: ANY_KEY,
    query: PreviewQuery,
    otherErrors: [503],
    responses: { 200: { description: 'An estimate. Nothing is created.', schema: PreviewAnswer } },
    handle: async ({ caller, query }) => {
      const preview = await deployments.preview(caller, {
        huggingfaceId: query.huggingface_id,
        gpuTier: query.gpu_tier ?? null,
        quantization: query.quantization ?? 'auto',
        maxModelLen: query.max_model_len ?? null,
        token: null,
      })
      return toPreviewAnswer(query.huggingface_id, preview)
    },
  }),
]

function toValidateAnswer(modelId: string, assessment: Assessment): Static<typeof ValidateAnswer> {
  const { model, weights, errors } = assessment
  return {
    valid: errors.length === 0,
    ghost_test_passed: errors.length === 0,
    model_id: modelId,
    revision: model?.commit ?? null,
    architecture: model?.architecture ?? null,
    model_type: model?.modelType ?? null,
    parameters: model?.weights?.parameters ?? null,
    format: model?.format ?? null,
    gated: assessment.isGated,
    license: model?.license ?? null,
    vllm_compatible: model?.format === 'safetensors' && !model.hasRemoteCode && model.shape !== null,
    llama_cpp_compatible: model?.format === 'gguf',
    vram_fp16_gb: weights === null ? null : gigabytes(weights.fp16),
    vram_int8_gb: weights === null ? null : gigabytes(weights.int8),
    vram_int4_gb: weights === null ? null : gigabytes(weights.int4),
    kv_cache_gb: assessment.cache === null ? null : gigabytes(assessment.cache),
    max_context: assessment.contextMax,
    recommended_gpu_tier: assessment.recommendedTier,
    warnings: [...assessment.warnings],
    errors: [...errors],
  }
}

/** Typical start time of an engine, without the time to load the weights at the rate below. */
const START_MINUTES = 3
const GIGABYTES_PER_MINUTE = 30

function toPreviewAnswer(
  huggingfaceId: string,
  preview: TierPreview & { readonly cacheStatus: CacheStatus },
): Static<typeof PreviewAnswer> {
  const { tier, fit, need } = preview
  const requiredGb = need === null ? null : gigabytes(need.totalBytes)
  return {
    huggingface_id: huggingfaceId,
    gpu_tier: tier.id,
    compatible: fit !== 'no',
    fit,
    provider: tier.driverId,
    eta_minutes: START_MINUTES + Math.ceil((requiredGb ?? 0) / GIGABYTES_PER_MINUTE),
    hourly_cost_usd: usdFromNanoUsd(tier.pricePerHourNanoUsd),
    required_vram_gb: requiredGb,
    weights_gb: need === null ? null : gigabytes(need.weightBytes),
    cache_gb: need === null ? null : gigabytes(need.cacheBytes),
    overhead_gb: need === null ? null : gigabytes(need.overheadBytes),
    available_vram_gb: gigabytes(preview.availableBytes),
    max_fitting_model_len: preview.longestContext,
    is_cached: preview.cacheStatus === 'complete',
    cache_status: preview.cacheStatus,
    alternatives: [...preview.alternatives],
    notes: preview.notes.join(' '),
  }
}

function gigabytes(bytes: number): number {
  return Math.round(bytes / 10_000_000) / 100
}
