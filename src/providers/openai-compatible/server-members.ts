import { isRecord } from '../../kernel/is-record.ts'

interface PassingUpstream {
  readonly defaultBaseUrl: string | null
  readonly allowedMembers?: readonly string[]
}

/**
 * Returns the members of a request that a self-hosted server must not get. Engines have members that load code or adapters, fetch
 * addresses or change how the server works, and every version adds some. So only members of this list pass, and those that the
 * operator allows for this server. Vendors get every member.
 */
export function listHeldMembers({ defaultBaseUrl, allowedMembers }: PassingUpstream, body: object): string[] {
  if (defaultBaseUrl !== null) return NOTHING
  let held: string[] | null = null
  for (const name in body)
    if (!isPassed(name, body) && allowedMembers?.includes(name) !== true) (held ??= []).push(name)
  return held ?? NOTHING
}

const NOTHING: string[] = []

function isPassed(name: string, body: object): boolean {
  return PASSED_MEMBERS.has(name) && (name !== SWITCHES || hasOnlySwitches(Reflect.get(body, SWITCHES)))
}

const SWITCHES = 'chat_template_kwargs'
/** The arguments of chat templates that turn reasoning on or off. Others may replace the template or its inputs. */
const TEMPLATE_SWITCHES: ReadonlySet<string> = new Set([
  'enable_thinking',
  'thinking',
  'thinking_budget',
  'preserve_thinking',
  'clear_thinking',
  'reasoning_effort',
])

function hasOnlySwitches(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (!isRecord(value)) return false
  return Object.entries(value).every(
    ([name, member]) => TEMPLATE_SWITCHES.has(name) && (typeof member !== 'object' || member === null),
  )
}

const PASSED_MEMBERS: ReadonlySet<string> = new Set(
  // Chat and completions.
  (
    'model messages temperature top_p max_tokens max_completion_tokens stream stream_options stop n tools ' +
    'tool_choice parallel_tool_calls response_format seed logprobs top_logprobs logit_bias presence_penalty ' +
    'frequency_penalty reasoning_effort think thinking user metadata functions function_call verbosity ' +
    'prompt suffix echo best_of modalities audio prediction store service_tier safety_identifier ' +
    'prompt_cache_key ' +
    // Sampling.
    'top_k min_p top_a typical_p tfs_z repetition_penalty repeat_penalty repeat_last_n length_penalty ' +
    'min_tokens stop_token_ids bad_words allowed_token_ids ignore_eos skip_special_tokens ' +
    'spaces_between_special_tokens include_stop_str_in_output mirostat mirostat_tau mirostat_eta ' +
    'dynatemp_range dynatemp_exponent xtc_probability xtc_threshold dry_multiplier dry_base ' +
    'dry_allowed_length dry_sequence_breakers do_sample chat_template_kwargs include_reasoning ' +
    'truncate_prompt_tokens ' +
    // The form of the answer.
    'guided_json guided_regex guided_choice guided_grammar structured_outputs json_schema grammar regex ebnf ' +
    'structural_tag ' +
    // Messages and Responses.
    'system stop_sequences output_config input instructions text reasoning include truncation ' +
    'max_output_tokens previous_response_id background ' +
    // Embeddings, reranking and moderation.
    'dimensions encoding_format input_type task_type query documents top_n return_documents ' +
    'max_chunks_per_doc'
  ).split(' '),
)
