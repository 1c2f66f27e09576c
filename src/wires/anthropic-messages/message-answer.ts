import { Type } from 'typebox'

const Text = Type.Object({ type: Type.Literal('text'), text: Type.String() })

const Thinking = Type.Object({
  type: Type.Literal('thinking'),
  thinking: Type.String({ description: 'What the model thought.' }),
  signature: Type.String({ description: 'Empty where the model does not sign what it thinks.' }),
})

const RedactedThinking = Type.Object({ type: Type.Literal('redacted_thinking'), data: Type.String() })

const ToolUse = Type.Object({
  type: Type.Literal('tool_use'),
  id: Type.String(),
  name: Type.String(),
  input: Type.Object({}),
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
  id: Type.String(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String({ description: 'The id that was asked for.' }),
  content: Type.Array(Type.Union([Text, Thinking, RedactedThinking, ToolUse])),
  stop_reason: Type.Enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'], {
    description: 'Why the answer ended.',
  }),
  stop_sequence: Type.Union([Type.String(), Type.Null()], {
    description: 'The text at which it stopped.',
  }),
  usage: Usage,
})
