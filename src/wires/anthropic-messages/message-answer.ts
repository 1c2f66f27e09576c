import { Type } from 'typebox'
import { described } from '../described.ts'
import { Id, partType } from '../usual-members.ts'

const Text = Type.Object({ type: partType('text'), text: Type.String({ description: 'The text.' }) })

const Thinking = Type.Object({
  type: partType('thinking'),
  thinking: Type.String({ description: 'What the model thought.' }),
  signature: Type.String({ description: 'Empty where the model does not sign what it thinks.' }),
})

const RedactedThinking = Type.Object({
  type: partType('redacted_thinking'),
  data: Type.String({ description: 'The reasoning, encrypted by the vendor.' }),
})

const ToolUse = Type.Object({
  type: partType('tool_use'),
  id: Id,
  name: Type.String({ description: 'The name of the tool.' }),
  input: Type.Object({}, { description: 'The arguments, as the model wrote them.' }),
})

const Usage = Type.Object({
  input_tokens: Type.Integer({ description: 'Of the prompt, without what a cache held.' }),
  cache_creation_input_tokens: Type.Integer({ description: 'Written to the cache of prompts.' }),
  cache_read_input_tokens: Type.Integer({ description: 'Read from the cache of prompts.' }),
  output_tokens: Type.Integer({ description: 'Of the answer, thoughts included.' }),
  cost_usd: Type.Number({ description: 'What the request cost.' }),
})

/** The schema for the API reference. */
export const Message = Type.Object({
  id: Id,
  type: partType('message'),
  role: Type.Literal('assistant', { description: 'Who wrote the message.' }),
  model: Type.String({ description: 'The id that was asked for.' }),
  content: Type.Array(Type.Union([Text, Thinking, RedactedThinking, ToolUse]), {
    description: 'The text of the message, or its parts.',
  }),
  stop_reason: Type.Enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'], {
    description: 'Why the answer ended.',
  }),
  stop_sequence: Type.Union([Type.String(), Type.Null()], {
    description: 'The text at which it stopped.',
  }),
  usage: described(Usage, 'What was used, and what it cost.'),
})
