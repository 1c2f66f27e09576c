import { PROTECTIVE_MEMBERS } from './protective-members.ts'

/** What the gateway does with a request member that the provider does not accept. */
export type UntakenMember = 'refused' | 'dropped'

/**
 * Request members, in the spelling of any vendor, that change the price, the model that answers, or the amount of output. They
 * are forwarded only to providers that list them in `takenMembers`. All other members are forwarded unchanged.
 */
export const BILLED_MEMBERS: ReadonlyMap<string, UntakenMember> = new Map([
  // Service tiers and queues with their own prices.
  ...refused('service_tier', 'priority', 'background', 'deferred', 'speed', 'inference_geo'),
  // Redirects to another model, vendor or account.
  ...refused('models', 'route', 'provider', 'fallbacks', 'preset', 'plugins', 'transforms', 'safety_model'),
  ...refused('extra_body', 'extra_headers', 'extra_query', 'api_base', 'base_url', 'api_key', 'api_version'),
  // Searches, retrieval and code execution by the vendor, billed in addition to the tokens.
  ...refused('web_search_options', 'search_parameters', 'enable_search', 'search_options', 'search_settings'),
  ...refused(
    'web_search',
    'search_context_size',
    'search_mode',
    'compound_custom',
    'enable_code_interpreter',
  ),
  ...refused('mcp_servers', 'container', 'code_execution'),
  // Audio and images, whose prices differ from those of text.
  ...refused('modalities', 'audio'),
  // Image options that raise the price: closer reading of inputs, partial images, more inference steps.
  ...refused('input_fidelity', 'partial_images', 'num_inference_steps', 'inference_steps', 'steps'),
  // Predicted text, which is billed as output even if it is rejected.
  ...refused('prediction', 'speculation'),
  // Prompt caches that are billed.
  ...refused('prompt_cache_retention', 'prompt_cache_options', 'prompt_cache_max_len', 'cached_content'),
  // Other names for the output limit and the number of outputs.
  ...refused('n_predict', 'num_predict', 'max_new_tokens', 'max_output_tokens', 'max_length'),
  ...refused('best_of', 'num_return_sequences', 'candidate_count', 'use_beam_search', 'beam_width'),
  // Protective members must not be dropped silently.
  ...refused(...PROTECTIVE_MEMBERS),
  // Members of engines that load code, adapters or files, or change how the server works.
  ...refused('chat_template', 'mm_processor_kwargs', 'media_io_kwargs', 'kv_transfer_params', 'vllm_xargs'),
  ...refused('logits_processors', 'custom_logit_processor', 'custom_params', 'session_params', 'samplers'),
  ...refused('lora_request', 'lora_path', 'lora', 'adapter_id', 'adapter_source', 'prompt_embeds'),
  ...refused('input_embeds', 'image_data', 'audio_data', 'video_data', 'return_hidden_states'),
  ...refused('bootstrap_host', 'bootstrap_port', 'bootstrap_room'),
  // Data stored in the operator's account at the vendor, where clients could not read it.
  ...dropped('store', 'metadata'),
  // A credit for a refused prompt, which Anthropic's SDK redeems with another model. Without it the prompt has its usual price.
  ...dropped('fallback_credit_token'),
  // Settings of a self-hosted server, such as its slots and its memory.
  ...dropped('options', 'id_slot', 'slot_id', 'keep_alive'),
])

/** Returns whether the value requests only default behaviour, so that the member has no effect on the bill. */
export function isOrdinaryValue(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true
  if (name === 'service_tier') return typeof value === 'string' && ORDINARY_TIERS.has(value)
  if (name === 'modalities') return Array.isArray(value) && value.every((one) => one === 'text')
  // A number is how fast something is spoken or played.
  if (name === 'speed') return value === 'standard' || typeof value === 'number'
  if (name === 'inference_geo') return value === 'global'
  if (name === 'best_of') return value === 1
  if (name === 'input_fidelity') return value === 'low'
  if (name === 'pii_mode') return value === 'off'
  // Form fields are strings.
  if (name === 'partial_images') return value === 0 || value === '0'
  return Array.isArray(value) && value.length === 0
}

const ORDINARY_TIERS: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
])

function refused(...names: readonly string[]): (readonly [string, UntakenMember])[] {
  return names.map((name) => [name, 'refused'])
}

function dropped(...names: readonly string[]): (readonly [string, UntakenMember])[] {
  return names.map((name) => [name, 'dropped'])
}
