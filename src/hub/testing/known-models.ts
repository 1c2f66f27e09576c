/** A known model: the relevant part of its config, its size on the hub, and published figures of its memory. */
export interface KnownModel {
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  readonly parameters: number
  /** Size of the weights in gigabytes, by quantization. */
  readonly publishedWeightsGb: Readonly<Record<string, number>>
  /** Size of the KV cache of one request in bytes, by its number of tokens. */
  readonly publishedCacheBytes: Readonly<Record<number, number>>
}

const KIB = 1_024
const GIB = 1_073_741_824

export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    // Multi-head attention: every head is cached, 300 KiB per token.
    id: 'openai-community/gpt2-xl',
    config: {
      n_layer: 48,
      n_embd: 1600,
      n_head: 25,
      vocab_size: 50_257,
      n_positions: 1_024,
      tie_word_embeddings: true,
    },
    parameters: 1_557_611_200,
    publishedWeightsGb: { fp32: 6.23, fp16: 3.12 },
    publishedCacheBytes: { 1: 300 * KIB, 1_000: 300_000 * KIB },
  },
  {
    // Grouped-query attention.
    id: 'meta-llama/Llama-3.1-8B-Instruct',
    config: {
      num_hidden_layers: 32,
      hidden_size: 4096,
      intermediate_size: 14_336,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      vocab_size: 128_256,
      max_position_embeddings: 131_072,
      tie_word_embeddings: false,
    },
    parameters: 8_030_261_248,
    publishedWeightsGb: { bf16: 16.06, fp8: 9.08, awq: 5.73, Q4_K_M: 4.92, Q8_0: 8.54 },
    publishedCacheBytes: { 1_000: 0.122 * GIB, 16_000: 1.95 * GIB, 128_000: 15.62 * GIB },
  },
  {
    id: 'meta-llama/Llama-3.1-70B-Instruct',
    config: {
      num_hidden_layers: 80,
      hidden_size: 8192,
      intermediate_size: 28_672,
      num_attention_heads: 64,
      num_key_value_heads: 8,
      vocab_size: 128_256,
      max_position_embeddings: 131_072,
      tie_word_embeddings: false,
    },
    parameters: 70_553_706_496,
    publishedWeightsGb: { bf16: 141.1, fp8: 72.7, awq: 39.8, Q4_K_M: 42.5 },
    publishedCacheBytes: { 16_000: 4.88 * GIB, 128_000: 39.06 * GIB },
  },
  {
    // 516.096 KB per token.
    id: 'meta-llama/Llama-3.1-405B-Instruct',
    config: {
      num_hidden_layers: 126,
      hidden_size: 16_384,
      intermediate_size: 53_248,
      num_attention_heads: 128,
      num_key_value_heads: 8,
      vocab_size: 128_256,
      max_position_embeddings: 131_072,
      tie_word_embeddings: false,
    },
    parameters: 405_853_388_800,
    publishedWeightsGb: { bf16: 811.7, fp8: 410 },
    publishedCacheBytes: { 1: 516_096 },
  },
  {
    // 327.680 KB per token. The config contains a sliding window that is not used.
    id: 'Qwen/Qwen2.5-72B-Instruct',
    config: {
      num_hidden_layers: 80,
      hidden_size: 8192,
      intermediate_size: 29_568,
      num_attention_heads: 64,
      num_key_value_heads: 8,
      vocab_size: 152_064,
      max_position_embeddings: 32_768,
      sliding_window: 131_072,
      use_sliding_window: false,
      tie_word_embeddings: false,
    },
    parameters: 72_706_203_648,
    publishedWeightsGb: { bf16: 145.4, awq: 41.6 },
    publishedCacheBytes: { 1: 327_680 },
  },
  {
    id: 'Qwen/Qwen2.5-7B-Instruct',
    config: {
      num_hidden_layers: 28,
      hidden_size: 3584,
      intermediate_size: 18_944,
      num_attention_heads: 28,
      num_key_value_heads: 4,
      vocab_size: 152_064,
      max_position_embeddings: 32_768,
      tie_word_embeddings: false,
    },
    parameters: 7_615_616_512,
    publishedWeightsGb: { bf16: 15.2, awq: 5.57, int8: 8.7, Q4_K_M: 4.68, Q8_0: 8.1 },
    publishedCacheBytes: { 1: 57_344 },
  },
  {
    // A sliding window in all layers: the cache stops growing at 4,096 tokens.
    id: 'mistralai/Mistral-7B-v0.1',
    config: {
      num_hidden_layers: 32,
      hidden_size: 4096,
      intermediate_size: 14_336,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      vocab_size: 32_000,
      max_position_embeddings: 32_768,
      sliding_window: 4_096,
      tie_word_embeddings: false,
    },
    parameters: 7_241_732_096,
    publishedWeightsGb: { bf16: 14.48, awq: 4.15, Q4_K_M: 4.37 },
    publishedCacheBytes: { 1_024: 0.125 * GIB, 4_096: 0.5 * GIB, 32_768: 0.5 * GIB },
  },
  {
    // Mixture of experts: all experts are in memory.
    id: 'mistralai/Mixtral-8x7B-Instruct-v0.1',
    config: {
      num_hidden_layers: 32,
      hidden_size: 4096,
      intermediate_size: 14_336,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      num_local_experts: 8,
      vocab_size: 32_000,
      max_position_embeddings: 32_768,
      sliding_window: null,
      tie_word_embeddings: false,
    },
    parameters: 46_702_792_704,
    publishedWeightsGb: { bf16: 93.4, awq: 24.65, Q4_K_M: 26.44, Q8_0: 49.62 },
    publishedCacheBytes: { 1: 131_072, 32_768: 4 * GIB },
  },
  {
    // Heads are larger than the hidden size divided by their number. Every second layer has a sliding window.
    id: 'google/gemma-2-9b-it',
    config: {
      model_type: 'gemma2',
      num_hidden_layers: 42,
      hidden_size: 3584,
      intermediate_size: 14_336,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 256,
      vocab_size: 256_000,
      max_position_embeddings: 8_192,
      sliding_window: 4_096,
      tie_word_embeddings: true,
    },
    parameters: 9_241_705_984,
    publishedWeightsGb: { bf16: 18.5, Q4_K_M: 5.76, Q8_0: 9.83 },
    publishedCacheBytes: { 1: 344_064, 4_096: 344_064 * 4_096, 8_192: 344_064 * 6_144 },
  },
  {
    // Five of six layers have a sliding window. The text config is nested, because the model is multimodal.
    id: 'google/gemma-3-27b-it',
    config: {
      model_type: 'gemma3',
      text_config: {
        model_type: 'gemma3_text',
        num_hidden_layers: 62,
        hidden_size: 5376,
        intermediate_size: 21_504,
        num_attention_heads: 32,
        num_key_value_heads: 16,
        head_dim: 128,
        vocab_size: 262_208,
        max_position_embeddings: 131_072,
        sliding_window: 1_024,
        sliding_window_pattern: 6,
      },
      tie_word_embeddings: true,
    },
    parameters: 27_432_406_640,
    publishedWeightsGb: { bf16: 54.9, Q4_K_M: 16.5 },
    publishedCacheBytes: { 1: 507_904 },
  },
  {
    // Latent attention: 69 KiB per token.
    id: 'deepseek-ai/DeepSeek-V3',
    config: {
      num_hidden_layers: 61,
      hidden_size: 7168,
      intermediate_size: 18_432,
      num_attention_heads: 128,
      num_key_value_heads: 128,
      kv_lora_rank: 512,
      qk_rope_head_dim: 64,
      n_routed_experts: 256,
      vocab_size: 129_280,
      max_position_embeddings: 163_840,
      tie_word_embeddings: false,
    },
    parameters: 671_026_419_200,
    publishedWeightsGb: { fp8: 688, bf16: 1_342 },
    publishedCacheBytes: { 1: 70_272 },
  },
  {
    // A mixture of experts with an explicit head size.
    id: 'Qwen/Qwen3-30B-A3B',
    config: {
      num_hidden_layers: 48,
      hidden_size: 2048,
      intermediate_size: 6_144,
      num_attention_heads: 32,
      num_key_value_heads: 4,
      head_dim: 128,
      num_experts: 128,
      vocab_size: 151_936,
      max_position_embeddings: 40_960,
      tie_word_embeddings: false,
    },
    parameters: 30_532_122_624,
    publishedWeightsGb: { bf16: 61.1, fp8: 31.2, Q4_K_M: 18.6 },
    publishedCacheBytes: { 1: 98_304 },
  },
  {
    // A small model whose heads together are larger than the hidden size.
    id: 'Qwen/Qwen3-0.6B',
    config: {
      num_hidden_layers: 28,
      hidden_size: 1024,
      intermediate_size: 3_072,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 128,
      vocab_size: 151_936,
      max_position_embeddings: 40_960,
      tie_word_embeddings: true,
    },
    parameters: 596_049_920,
    publishedWeightsGb: { bf16: 1.19 },
    publishedCacheBytes: { 1: 114_688 },
  },
  {
    id: 'Qwen/Qwen3-Embedding-0.6B',
    config: {
      num_hidden_layers: 28,
      hidden_size: 1024,
      intermediate_size: 3_072,
      num_attention_heads: 16,
      num_key_value_heads: 8,
      head_dim: 128,
      vocab_size: 151_669,
      max_position_embeddings: 32_768,
      tie_word_embeddings: true,
    },
    parameters: 595_776_512,
    publishedWeightsGb: { bf16: 1.19 },
    publishedCacheBytes: { 1: 114_688 },
  },
  {
    id: 'Qwen/Qwen3-8B',
    config: {
      num_hidden_layers: 36,
      hidden_size: 4096,
      intermediate_size: 12_288,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      head_dim: 128,
      vocab_size: 151_936,
      max_position_embeddings: 40_960,
      tie_word_embeddings: false,
    },
    parameters: 8_190_735_360,
    publishedWeightsGb: { bf16: 16.4, Q4_K_M: 5.03 },
    publishedCacheBytes: { 1: 147_456 },
  },
]
