import { Type, type Static } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { Assessment, Deployments, TierPreview } from '../../../modules/deployments/deployments.ts'
import { invalidValue } from '../../../kernel/app-error.ts'
import { nullable } from '../../../wires/nullable.ts'
import { defineRoute, type Route } from '../../route.ts'

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const HubId = Type.String({ minLength: 1, maxLength: 200, description: 'The id of a model on the hub.' })
const MODEL_LEN_MAX = 10_000_000
const ModelLen = Type.Integer({
  minimum: 1,
  maximum: MODEL_LEN_MAX,
  description: 'The longest context in tokens.',
})
const Quantization = Type.String({
  maxLength: 100,
  description: 'As it would be deployed; `auto` as it is stored.',
})

const ValidateRequest = Type.Object(
  {
    huggingface_id: nullable(HubId),
    model_id: nullable(Type.String({ maxLength: 200, description: 'Another name of `huggingface_id`.' })),
    hf_token: nullable(
      Type.String({ maxLength: 200, description: 'For models that are gated. Used and forgotten.' }),
    ),
    quantization: nullable(Quantization),
    max_model_len: nullable(ModelLen),
  },
  { title: 'HubValidationRequest', examples: [{ huggingface_id: 'Qwen/Qwen3-8B' }] },
)

const ValidateAnswer = Type.Object(
  {
    valid: Type.Boolean({ description: 'Whether it can be deployed.' }),
    model_id: Type.String(),
    revision: orNull(Type.String({ description: 'The commit that was looked at.' })),
    architecture: orNull(Type.String({ description: 'The class that implements it.' })),
    model_type: orNull(Type.String({ description: 'Its family, as its config says.' })),
    parameters: orNull(Type.Integer({ description: 'How many weights it has.' })),
    format: orNull(Type.String({ description: '`safetensors`, `gguf`, `pickle` or `none`.' })),
    gated: Type.Boolean({ description: 'Whether the hub asks for a token.' }),
    license: orNull(Type.String({ description: 'As its card says.' })),
    vllm_compatible: Type.Boolean({ description: 'Whether vLLM can load its files.' }),
    llama_cpp_compatible: Type.Boolean({ description: 'Whether llama.cpp can load its files.' }),
    vram_fp16_gb: orNull(Type.Number({ description: 'Memory of the weights in 16 bits.' })),
    vram_int8_gb: orNull(Type.Number({ description: 'Memory of the weights in 8 bits.' })),
    vram_int4_gb: orNull(Type.Number({ description: 'Memory of the weights in 4 bits.' })),
    kv_cache_gb: orNull(
      Type.Number({ description: 'Memory of the cache of one request of the longest context.' }),
    ),
    max_context: orNull(Type.Integer({ description: 'The longest context that it was made for.' })),
    recommended_gpu_tier: orNull(Type.String({ description: 'The cheapest tier that it fits on.' })),
    warnings: Type.Array(Type.String(), { description: 'What to know before it is deployed.' }),
    errors: Type.Array(Type.String(), { description: 'Why it cannot be deployed.' }),
  },
  { title: 'HubValidation' },
)

const PreviewQuery = Type.Object({
  huggingface_id: HubId,
  gpu_tier: Type.String({ minLength: 1, maxLength: 100, description: 'A tier of `GET /v1/gpu-tiers`.' }),
  quantization: Type.Optional(Quantization),
  max_model_len: Type.Optional(ModelLen),
})

const PreviewAnswer = Type.Object(
  {
    huggingface_id: Type.String({ description: 'The id of the model on the hub.' }),
    gpu_tier: Type.String({ description: 'The tier that was asked about.' }),
    compatible: Type.Boolean({ description: 'Whether it can run there.' }),
    fit: Type.Enum(['fits', 'tight', 'no'], {
      description: '`tight` leaves hardly room for a second request.',
    }),
    provider: Type.String({ description: 'The driver that has the tier.' }),
    eta_minutes: Type.Integer({ description: 'About how long a start takes.' }),
    hourly_cost_usd: Type.Number({ description: 'Dollars an hour, billed by the second.' }),
    required_vram_gb: orNull(
      Type.Number({ description: 'Weights, cache of one request and what the engine takes.' }),
    ),
    available_vram_gb: Type.Number({ description: 'What an engine may use of the tier.' }),
    max_fitting_model_len: Type.Integer({ description: 'The longest context that fits. 0: none.' }),
    is_cached: Type.Boolean({ description: 'Whether the weights lie with the driver already.' }),
    cache_status: Type.String({ description: 'How much of them does: `none`.' }),
    alternatives: Type.Array(Type.String(), {
      description: 'Other tiers that it fits on, the cheapest first.',
    }),
    notes: Type.String({ description: 'What else to know, in words.' }),
  },
  { title: 'DeploymentPreview' },
)

export const hubModelRoutes = ({ deployments }: { deployments: Deployments }): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/hf/validate',
    summary: 'Look at a model of the hub',
    tag: 'Deployments',
    scope: 'any',
    body: ValidateRequest,
    responses: {
      200: {
        description: 'What is known of it, also of one that cannot be deployed.',
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
    summary: 'See how a model would fit on a tier',
    tag: 'Deployments',
    scope: 'any',
    query: PreviewQuery,
    otherErrors: [503],
    responses: { 200: { description: 'An estimate. Nothing is created.', schema: PreviewAnswer } },
    handle: async ({ caller, query }) => {
      const preview = await deployments.preview(caller, {
        huggingfaceId: query.huggingface_id,
        gpuTier: query.gpu_tier,
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

function toPreviewAnswer(huggingfaceId: string, preview: TierPreview): Static<typeof PreviewAnswer> {
  const { tier, fit, requiredBytes } = preview
  const requiredGb = requiredBytes === null ? null : gigabytes(requiredBytes)
  return {
    huggingface_id: huggingfaceId,
    gpu_tier: tier.id,
    compatible: fit !== 'no',
    fit,
    provider: tier.driverId,
    eta_minutes: START_MINUTES + Math.ceil((requiredGb ?? 0) / GIGABYTES_PER_MINUTE),
    hourly_cost_usd: usdFromNanoUsd(tier.pricePerHourNanoUsd),
    required_vram_gb: requiredGb,
    available_vram_gb: gigabytes(preview.availableBytes),
    max_fitting_model_len: preview.longestContext,
    is_cached: false,
    cache_status: 'none',
    alternatives: [...preview.alternatives],
    notes: preview.notes.join(' '),
  }
}

function gigabytes(bytes: number): number {
  return Math.round(bytes / 10_000_000) / 100
}
