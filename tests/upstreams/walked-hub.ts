import { safetensorsFile, startHub, type HubServer } from './hub-server.ts'

export const HUB_ID = 'Qwen/Qwen3-8B'

/** Starts a hub with one model that can be fetched and deployed. */
export function startWalkedHub(): Promise<HubServer> {
  return startHub({ [HUB_ID]: HUB_MODEL })
}

const HUB_MODEL = {
  info: { cardData: { license: 'apache-2.0' } },
  files: {
    'config.json': {
      architectures: ['Qwen3ForCausalLM'],
      model_type: 'qwen3',
      num_hidden_layers: 36,
      hidden_size: 4096,
      intermediate_size: 12_288,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      head_dim: 128,
      vocab_size: 151_936,
      max_position_embeddings: 40_960,
    },
    'tokenizer_config.json': { chat_template: '{{ messages }}' },
    'model.safetensors': safetensorsFile({ weights: { dtype: 'BF16', shape: [8_190_735_360] } }),
  },
}
