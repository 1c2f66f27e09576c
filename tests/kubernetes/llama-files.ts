import { safetensorsFile } from '../upstreams/hub-server.ts'

/** The files of a model with eight billion parameters that engines support. */
export const LLAMA_FILES = {
  'config.json': {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    num_hidden_layers: 32,
    hidden_size: 4096,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    vocab_size: 128_256,
    max_position_embeddings: 8_192,
  },
  'model.safetensors': safetensorsFile({ a: { dtype: 'BF16', shape: [4_015_130_624] } }),
}
