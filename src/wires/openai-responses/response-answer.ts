import { Type } from 'typebox'
import { Id, objectName } from '../usual-members.ts'

const OutputItem = Type.Object({
  id: Id,
  type: Type.String({ description: '`message`, `reasoning`, `function_call` or `custom_tool_call`.' }),
  status: Type.Optional(Type.String({ description: 'The state it is in.' })),
})

const Usage = Type.Object({
  input_tokens: Type.Integer({ description: 'Of the prompt.' }),
  input_tokens_details: Type.Object(
    {
      cached_tokens: Type.Integer({ description: 'Read from the cache of prompts.' }),
      cache_write_tokens: Type.Integer({ description: 'Written to the cache of prompts.' }),
    },
    { description: 'What a cache held or now holds of them.' },
  ),
  output_tokens: Type.Integer({ description: 'Of the answer, thoughts included.' }),
  output_tokens_details: Type.Object(
    { reasoning_tokens: Type.Integer({ description: 'Output tokens of the reasoning.' }) },
    { description: 'What of them was thought.' },
  ),
  total_tokens: Type.Integer({ description: 'Tokens of input and output together.' }),
  cost_usd: Type.Number({ description: 'What the request cost.' }),
})

/** The schema for the API reference. */
export const ResponseObject = Type.Object({
  id: Id,
  object: objectName('response'),
  created_at: Type.Integer({ description: 'When it began, in seconds.' }),
  status: Type.Enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'], {
    description: 'Whether the answer came to its own end; of one in the background how far it is.',
  }),
  incomplete_details: Type.Union(
    [
      Type.Object({
        reason: Type.String({
          description: 'Why it is incomplete: `max_output_tokens` or `content_filter`.',
        }),
      }),
      Type.Null(),
    ],
    {
      description: 'Why it did not.',
    },
  ),
  model: Type.String({ description: 'The id that was asked for.' }),
  output: Type.Array(OutputItem, { description: 'What the model said, thought and called.' }),
  usage: Type.Union([Usage, Type.Null()], { description: 'Null until there is an answer.' }),
})
