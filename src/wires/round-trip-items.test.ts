import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChatMessage } from './openai-chat/chat-request.ts'
import type { ResponsesRequest } from './openai-responses/responses-request.ts'
import { toChatRequest } from './openai-responses/to-chat-request.ts'
import { TEXT_ARGUMENT, type ToolNames } from './openai-responses/tool-names.ts'

type Item = Readonly<Record<string, unknown>>

const TOOLS = [
  { type: 'function', name: 'look', parameters: { type: 'object' } },
  { type: 'custom', name: 'patch' },
  {
    type: 'namespace',
    name: 'agents',
    tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
  },
]

const text = fc.string({ minLength: 1, unit: 'grapheme' })
const part: fc.Arbitrary<Item> = fc.oneof(
  text.map((said) => ({ type: 'input_text', text: said })),
  fc.record({
    type: fc.constant('input_image'),
    image_url: fc.base64String({ minLength: 4 }).map((data) => `data:image/png;base64,${data}`),
    detail: fc.constantFrom('auto', 'low', 'high'),
  }),
  fc.record({
    type: fc.constant('input_file'),
    file_data: fc.base64String({ minLength: 4 }).map((data) => `data:application/pdf;base64,${data}`),
    filename: fc.constantFrom('a.pdf', 'é.pdf'),
  }),
)
const content = fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 }))
const spoken: fc.Arbitrary<Item[]> = fc
  .record({ role: fc.constantFrom('user', 'system', 'developer'), content })
  .map((members) => [{ type: 'message', ...members }])
const answered: fc.Arbitrary<Item[]> = text.map((said) => [
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] },
])
const call = fc.record({
  id: fc.uuid(),
  given: fc.dictionary(fc.string(), fc.string()).map((input) => JSON.stringify(input)),
  plain: fc.string({ unit: 'grapheme' }),
  tool: fc.constantFrom('look', 'patch', 'agents'),
  output: content,
})
/** Parallel calls, followed by their results. */
const called: fc.Arbitrary<Item[]> = fc
  .uniqueArray(call, { minLength: 1, maxLength: 3, selector: ({ id }) => id })
  .map((calls) => [
    ...calls.map(({ id, given, plain, tool }): Item => {
      if (tool === 'patch') return { type: 'custom_tool_call', call_id: id, name: 'patch', input: plain }
      const namespace = tool === 'agents' ? { namespace: 'agents' } : {}
      return { type: 'function_call', call_id: id, name: 'look', ...namespace, arguments: given }
    }),
    ...calls.map(({ id, tool, output }) => ({
      type: tool === 'patch' ? 'custom_tool_call_output' : 'function_call_output',
      call_id: id,
      output,
    })),
  ])
const conversation = fc
  .array(fc.oneof(spoken, answered, called), { minLength: 1, maxLength: 8 })
  .map((turns) => turns.flat())

/** Converts chat messages back to the items from which they were made. */
function toItems(messages: readonly ChatMessage[], tools: ToolNames): Item[] {
  const textCalls = new Set<string>()
  return messages.flatMap((message): Item[] => {
    const { role, tool_calls: calls, tool_call_id: id } = message
    if (role === 'tool') {
      const type = textCalls.has(id ?? '') ? 'custom_tool_call_output' : 'function_call_output'
      return [{ type, call_id: id, output: toParts(message.content) }]
    }
    if (role !== 'assistant') return [{ type: 'message', role, content: toParts(message.content) }]
    const said = message.content === null ? [] : [{ type: 'message', role, content: message.content }]
    const made = (calls ?? []).map((one): Item => {
      if (one.type !== 'function') throw new Error('every call is one of a function')
      const { name: flat, arguments: given } = one.function
      const known = tools.known.get(flat)
      const { kind, name, namespace } = known ?? { kind: 'function', name: flat, namespace: null }
      if (kind === 'custom') {
        textCalls.add(one.id)
        const input: unknown = JSON.parse(given)[TEXT_ARGUMENT]
        return { type: 'custom_tool_call', call_id: one.id, name, input }
      }
      const within = namespace === null ? {} : { namespace }
      return { type: 'function_call', call_id: one.id, name, ...within, arguments: given }
    })
    return [...said, ...made]
  })
}

function toParts(given: ChatMessage['content']): unknown {
  if (!Array.isArray(given)) return given
  return given.map((one) => {
    if (one.type === 'text') return { type: 'input_text', text: one.text }
    if (one.type === 'image_url')
      return { type: 'input_image', image_url: one.image_url.url, detail: one.image_url.detail }
    if (one.type === 'file') return { type: 'input_file', ...one.file }
    throw new Error(`no part of an item becomes one of the type ${one.type}`)
  })
}

/** Joins consecutive assistant items, because they become one message. */
function joinSpeech(items: readonly Item[]): Item[] {
  const joined: Item[] = []
  for (const item of items) {
    const last = joined.at(-1)
    if (item['role'] !== 'assistant') joined.push(item)
    else {
      const said = Array.isArray(item['content']) ? item['content'][0].text : item['content']
      if (last?.['role'] === 'assistant')
        joined[joined.length - 1] = { ...last, content: String(last['content']) + String(said) }
      else joined.push({ ...item, content: said })
    }
  }
  return joined
}

test('items of any kind survive the translation to the chat form and back', () => {
  fc.assert(
    fc.property(conversation, fc.option(text), (items, instructions) => {
      const request: ResponsesRequest = { model: 'm', input: items, instructions, tools: TOOLS }
      const { body, tools } = toChatRequest(request)
      const [first, ...rest] = body.messages
      if (instructions !== null) expect(first).toEqual({ role: 'system', content: instructions })
      const messages = instructions === null ? body.messages : rest
      expect(toItems(messages, tools)).toEqual(joinSpeech(items))
    }),
  )
})
