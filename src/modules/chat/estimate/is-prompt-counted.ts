import { isRecord } from '../../../kernel/is-record.ts'

/**
 * Whether the gateway counts all of the prompt that a vendor may read in a request of any wire. A member that is not known here may
 * hold text that a vendor bills, so a stream of such a request is read to its usage even if its client leaves.
 */
export function isPromptCounted(body: object): boolean {
  for (const name in body) {
    const member: unknown = Reflect.get(body, name)
    if (isNoText(member)) continue
    if (CONVERSATIONS.has(name)) {
      if (Array.isArray(member) && !member.every(isItemCounted)) return false
    } else if (name === 'tools') {
      if (!Array.isArray(member) || !member.every(isClientTool)) return false
    } else if (!REQUEST_MEMBERS.has(name)) return false
  }
  return true
}

/** Members with the messages of a conversation. */
const CONVERSATIONS: ReadonlySet<string> = new Set(['messages', 'input', 'system'])

/** Members whose text is counted, and members that are no part of the prompt. */
const REQUEST_MEMBERS: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'suffix',
  'instructions',
  'response_format',
  'text',
  'tool_choice',
  'stop',
  'stop_sequences',
  'stream_options',
  'logit_bias',
  'metadata',
  'modalities',
  'include',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'output_config',
  'verbosity',
  'truncation',
  'service_tier',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'previous_response_id',
  'conversation',
])

const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom'])

function isClientTool(tool: unknown): boolean {
  return isRecord(tool) && CLIENT_TOOLS.has(tool['type'])
}

/** Members of messages, items, parts and blocks. Media is measured apart. */
const ITEM_MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'status',
  'phase',
  'name',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'text',
  'refusal',
  'arguments',
  'tool_calls',
  'input',
  'cache_control',
  'detail',
  'image_url',
  'video_url',
  'input_audio',
  'file',
  'file_data',
  'file_url',
  'file_id',
  'filename',
  'source',
])
const LISTS_OF_PARTS: ReadonlySet<string> = new Set(['content', 'output'])

function isItemCounted(item: unknown): boolean {
  if (!isRecord(item)) return true
  for (const [name, member] of Object.entries(item)) {
    if (isNoText(member)) continue
    if (LISTS_OF_PARTS.has(name)) {
      if (Array.isArray(member) ? !member.every(isItemCounted) : typeof member !== 'string') return false
    } else if (!ITEM_MEMBERS.has(name)) return false
  }
  return true
}

function isNoText(value: unknown): boolean {
  if (typeof value === 'string') return false
  return typeof value !== 'object' || value === null || (Array.isArray(value) && value.length === 0)
}
