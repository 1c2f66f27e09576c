import { expect, test } from 'vitest'
import { isPromptCounted } from './is-prompt-counted.ts'

const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }
const message = (members: object = {}) => ({ type: 'message', role: 'user', content: 'Hi', ...members })

test.each<[string, object]>([
  ['a chat', { model: 'm', messages: [{ role: 'user', content: 'Hi', name: 'ada' }], temperature: 0.5 }],
  [
    'a chat with tools',
    { messages: [{ role: 'user', content: 'Hi' }], tools: [{ type: 'function', function: LOOK }] },
  ],
  ['a response of text', { input: 'Hi', instructions: 'Be short.', store: false }],
  [
    'a response with parts and calls',
    {
      input: [
        message({ content: [{ type: 'input_text', text: 'Hi' }] }),
        message({
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Ho', annotations: [], logprobs: [] }],
        }),
        { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'seen' },
      ],
      tools: [LOOK],
    },
  ],
  [
    'a message with blocks',
    {
      system: [{ type: 'text', text: 'Be short.', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'seen' }] }],
    },
  ],
])('%s is counted', (_name, body) => {
  expect(isPromptCounted(body)).toBe(true)
})

test.each<[string, object]>([
  ['tools in a message', { input: [message({ tools: [LOOK] })] }],
  ['tools that were found by a search', { input: [{ type: 'tool_search_output', tools: [LOOK] }] }],
  ['a group of tools', { input: 'Hi', tools: [{ type: 'namespace', name: 'space', tools: [LOOK] }] }],
  ['a member of a message that is not known', { messages: [message({ reasoning_content: 'So …' })] }],
  [
    'the context of a document',
    { messages: [message({ content: [{ type: 'document', context: 'Old.' }] })] },
  ],
  ['a member of the request that is not known', { messages: [message()], documents: ['A long text.'] }],
])('%s may be billed, so that it is not counted', (_name, body) => {
  expect(isPromptCounted(body)).toBe(false)
})
