import { PROTECTIVE_MEMBERS } from './protective-members.ts'

/** What becomes of a member that the provider of a request does not take. */
export type UntakenMember = 'refused' | 'dropped'

/**
 * Members of a request that change what a vendor bills, which model answers, or how much may be written, in whichever
 * vendor's words. They reach a provider that names them as taken; what else a client writes passes unchanged.
 */
export const BILLED_MEMBERS: ReadonlyMap<string, UntakenMember> = new Map([
  // Tiers and queues with prices of their own.
  ...refused('service_tier', 'priority', 'background', 'deferred'),
  // Another model, another vendor, or somebody else's account.
  ...refused('models', 'route', 'provider', 'fallbacks', 'preset', 'plugins', 'transforms', 'safety_model'),
  ...refused('extra_body', 'extra_headers', 'extra_query', 'api_base', 'base_url', 'api_key', 'api_version'),
  // What is searched, read or run by the vendor is billed beside the tokens.
  ...refused('web_search_options', 'search_parameters', 'enable_search', 'search_options', 'search_settings'),
  ...refused(
    'web_search',
    'search_context_size',
    'search_mode',
    'compound_custom',
    'enable_code_interpreter',
  ),
  ...refused('mcp_servers', 'container', 'code_execution'),
  // Sound and pictures have other prices than text.
  ...refused('modalities', 'audio'),
  // Pictures that are read more closely, made in pieces or worked on for longer.
  ...refused('input_fidelity', 'partial_images', 'num_inference_steps', 'inference_steps', 'steps'),
  // Text that is not kept is billed as written.
  ...refused('prediction', 'speculation'),
  // Caches that are paid for.
  ...refused('prompt_cache_retention', 'prompt_cache_options', 'prompt_cache_max_len', 'cached_content'),
  // Other names for how much and how often is written.
  ...refused('n_predict', 'num_predict', 'max_new_tokens', 'max_output_tokens', 'max_length'),
  ...refused('best_of', 'num_return_sequences', 'candidate_count', 'use_beam_search', 'beam_width'),
  // What would protect somebody must not be left out in silence.
  ...refused(...PROTECTIVE_MEMBERS),
  // Kept in the operator's account, where no client could read it.
  ...dropped('store', 'metadata'),
  // Settings of a server of the operator's own, such as its slots and its memory.
  ...dropped('options', 'id_slot', 'slot_id', 'keep_alive'),
])

/** What a request says that asks for nothing out of the ordinary. */
export function isOrdinaryValue(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true
  if (name === 'service_tier') return typeof value === 'string' && ORDINARY_TIERS.has(value)
  if (name === 'modalities') return Array.isArray(value) && value.every((one) => one === 'text')
  if (name === 'best_of') return value === 1
  if (name === 'input_fidelity') return value === 'low'
  // A form has texts only.
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
