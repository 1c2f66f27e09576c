/** A recommended deployment: a model with a suitable tier and settings. */
export interface DeploymentTemplate {
  readonly id: string
  readonly name: string
  readonly huggingfaceId: string
  readonly gpuTier: string
  readonly description: string
  readonly tags: readonly string[]
  readonly defaults: {
    readonly quantization: string
    readonly maxModelLen: number
    readonly idleTimeoutMinutes: number
  }
}

const IDLE_MINUTES = 15

/** Sorted from small to large models. */
export const DEPLOYMENT_TEMPLATES: readonly DeploymentTemplate[] = [
  template(
    'qwen3-0-6b',
    'Qwen3 0.6B',
    'Qwen/Qwen3-0.6B',
    'l4_24gb',
    'A small chat model for trying things out.',
    ['chat', 'small'],
  ),
  template(
    'qwen3-embedding-0-6b',
    'Qwen3 Embedding 0.6B',
    'Qwen/Qwen3-Embedding-0.6B',
    'l4_24gb',
    'Embeddings of 1,024 dimensions for search, in over 100 languages.',
    ['embeddings', 'multilingual', 'small'],
  ),
  template(
    'llama-3-2-3b',
    'Llama 3.2 3B Instruct',
    'meta-llama/Llama-3.2-3B-Instruct',
    'l4_24gb',
    'A small model that follows instructions. Gated: it needs a token.',
    ['chat', 'small'],
  ),
  template(
    'qwen2-5-7b',
    'Qwen2.5 7B Instruct',
    'Qwen/Qwen2.5-7B-Instruct',
    'l4_24gb',
    'A general chat model with tools, in 29 languages.',
    ['chat', 'tools', 'multilingual'],
    { maxModelLen: 16_384 },
  ),
  template(
    'llama-3-1-8b',
    'Llama 3.1 8B Instruct',
    'meta-llama/Llama-3.1-8B-Instruct',
    'l40s_48gb',
    'A general chat model with a long context. Gated: it needs a token.',
    ['chat', 'tools'],
    { maxModelLen: 65_536 },
  ),
  template(
    'qwen3-8b',
    'Qwen3 8B',
    'Qwen/Qwen3-8B',
    'l40s_48gb',
    'Thinks before it answers where that helps.',
    ['chat', 'reasoning', 'multilingual'],
    { maxModelLen: 40_960 },
  ),
  template(
    'mistral-nemo-12b',
    'Mistral Nemo 12B Instruct',
    'mistralai/Mistral-Nemo-Instruct-2407',
    'l40s_48gb',
    'A multilingual chat model for European languages.',
    ['chat', 'multilingual'],
    { maxModelLen: 65_536 },
  ),
  template(
    'phi-4',
    'Phi-4 14B',
    'microsoft/phi-4',
    'l40s_48gb',
    'Strong at mathematics and logic for its size.',
    ['chat', 'reasoning'],
    { maxModelLen: 16_384 },
  ),
  template(
    'qwen2-5-vl-7b',
    'Qwen2.5 VL 7B Instruct',
    'Qwen/Qwen2.5-VL-7B-Instruct',
    'l40s_48gb',
    'Reads images, documents and screenshots.',
    ['chat', 'vision'],
    { maxModelLen: 32_768 },
  ),
  template(
    'qwen2-5-coder-32b',
    'Qwen2.5 Coder 32B Instruct',
    'Qwen/Qwen2.5-Coder-32B-Instruct',
    'h200_141gb',
    'Writes, explains and repairs code.',
    ['code', 'tools'],
    { maxModelLen: 32_768 },
  ),
  template(
    'deepseek-r1-distill-32b',
    'DeepSeek R1 Distill Qwen 32B',
    'deepseek-ai/DeepSeek-R1-Distill-Qwen-32B',
    'h200_141gb',
    'Long chains of thought for hard questions.',
    ['reasoning', 'code'],
    { maxModelLen: 32_768 },
  ),
  template(
    'qwen3-30b-a3b',
    'Qwen3 30B A3B',
    'Qwen/Qwen3-30B-A3B',
    'h200_141gb',
    'A mixture of experts: the quality of a large model at the speed of a small one.',
    ['chat', 'reasoning', 'multilingual'],
    { maxModelLen: 40_960 },
  ),
  template(
    'llama-3-3-70b',
    'Llama 3.3 70B Instruct',
    'meta-llama/Llama-3.3-70B-Instruct',
    'h100_80gb_x4',
    'A large general chat model. Gated: it needs a token.',
    ['chat', 'tools', 'multilingual'],
    { maxModelLen: 131_072 },
  ),
]

function template(
  id: string,
  name: string,
  huggingfaceId: string,
  gpuTier: string,
  description: string,
  tags: readonly string[],
  defaults: Partial<DeploymentTemplate['defaults']> = {},
): DeploymentTemplate {
  return {
    id,
    name,
    huggingfaceId,
    gpuTier,
    description,
    tags,
    defaults: { quantization: 'auto', maxModelLen: 8_192, idleTimeoutMinutes: IDLE_MINUTES, ...defaults },
  }
}
