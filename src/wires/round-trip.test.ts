import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChatMessage } from './openai-chat/chat-request.ts'
import { serverFeaturesOf } from './anthropic-messages/message-features.ts'
import type { MessagesRequest } from './anthropic-messages/messages-request.ts'
import { toChatRequest as messagesToChat } from './anthropic-messages/to-chat-request.ts'
import { toReadableRequest } from './anthropic-messages/to-readable-request.ts'
import type { ResponsesRequest } from './openai-responses/responses-request.ts'
import { toChatRequest as responsesToChat } from './openai-responses/to-chat-request.ts'

/** A turn of a conversation, independent of a wire. */
type Turn =
  | { readonly kind: 'user'; readonly text: string; readonly picture: string | null }
  | { readonly kind: 'assistant'; readonly text: string }
  | {
      readonly kind: 'call'
      readonly id: string
      readonly input: Record<string, string>
      readonly result: string
    }

const text = fc.string({ minLength: 1, unit: 'grapheme' })
const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.record({
    kind: fc.constant('user' as const),
    text,
    picture: fc.option(fc.base64String({ minLength: 4 })),
  }),
  fc.record({ kind: fc.constant('assistant' as const), text }),
  fc.record({
    kind: fc.constant('call' as const),
    id: fc.uuid(),
    input: fc.dictionary(fc.constantFrom('city', 'unit'), fc.string()),
    result: text,
  }),
)
const conversation = fc.array(turn, { minLength: 1, maxLength: 12 })

const dataUrl = (base64: string) => `data:image/png;base64,${base64}`

function toMessages(turns: readonly Turn[]): MessagesRequest {
  const messages = turns.flatMap((one): MessagesRequest['messages'] => {
    if (one.kind === 'assistant')
      return [{ role: 'assistant', content: [block({ type: 'text', text: one.text })] }]
    if (one.kind === 'user') {
      const source = { type: 'base64', media_type: 'image/png', data: one.picture }
      const picture = one.picture === null ? [] : [block({ type: 'image', source })]
      return [{ role: 'user', content: [block({ type: 'text', text: one.text }), ...picture] }]
    }
    return [
      {
        role: 'assistant',
        content: [block({ type: 'tool_use', id: one.id, name: 'look', input: one.input })],
      },
      { role: 'user', content: [block({ type: 'tool_result', tool_use_id: one.id, content: one.result })] },
    ]
  })
  return { model: 'm', max_tokens: 10, messages }
}

function block<Block extends { type: string }>(members: Block): Block {
  return members
}

function toItems(turns: readonly Turn[]): ResponsesRequest {
  const input = turns.flatMap((one): object[] => {
    if (one.kind === 'assistant')
      return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: one.text }] }]
    if (one.kind === 'user') {
      const picture = one.picture === null ? [] : [{ type: 'input_image', image_url: dataUrl(one.picture) }]
      return [{ role: 'user', content: [{ type: 'input_text', text: one.text }, ...picture] }]
    }
    const call = {
      type: 'function_call',
      call_id: one.id,
      name: 'look',
      arguments: JSON.stringify(one.input),
    }
    return [call, { type: 'function_call_output', call_id: one.id, output: one.result }]
  })
  return { model: 'm', input }
}

/** Returns the content that the model receives, independent of how the messages are written. */
function saidIn(messages: readonly ChatMessage[]): unknown[] {
  return messages.flatMap((message): unknown[] => {
    const { role, content, tool_calls: calls = [], tool_call_id: answered } = message
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? [])
    return [
      ...parts.map((part) => {
        if (part.type === 'text') return { role, text: part.text, ...(answered ? { answered } : {}) }
        return { role, picture: part.type === 'image_url' ? part.image_url.url : null }
      }),
      ...(calls ?? []).map((call) => ({
        role,
        id: call.id,
        input: 'function' in call && call.function ? JSON.parse(call.function.arguments) : null,
      })),
    ]
  })
}

function saidOf(turns: readonly Turn[]): unknown[] {
  return turns.flatMap((one): unknown[] => {
    if (one.kind === 'assistant') return [{ role: 'assistant', text: one.text }]
    if (one.kind === 'call')
      return [
        { role: 'assistant', id: one.id, input: one.input },
        { role: 'tool', text: one.result, answered: one.id },
      ]
    const picture = one.picture === null ? [] : [{ role: 'user', picture: dataUrl(one.picture) }]
    return [{ role: 'user', text: one.text }, ...picture]
  })
}

/** Joins consecutive assistant texts, because one message may contain several turns. */
function joinSpeech(said: readonly unknown[]): string {
  return JSON.stringify(said).replaceAll('"},{"role":"assistant","text":"', '')
}

describe('a conversation', () => {
  test('means the same to a model from every wire', () => {
    fc.assert(
      fc.property(conversation, (turns) => {
        const said = joinSpeech(saidOf(turns))
        expect(joinSpeech(saidIn(messagesToChat(toMessages(turns)).body.messages))).toBe(said)
        // Here, calls and texts of consecutive assistant turns become one message, text first, so only the contents are compared.
        const fromItems = saidIn(responsesToChat(toItems(turns)).body.messages)
        expect(fromItems.length).toBeGreaterThan(0)
        for (const one of turns)
          expect(JSON.stringify(fromItems)).toContain(
            JSON.stringify(one.kind === 'call' ? one.result : one.text).slice(1, -1),
          )
      }),
    )
  })

  test('can be measured with unknown blocks and tools', () => {
    const unknown = fc.record({ type: fc.string({ minLength: 1, maxLength: 20 }), data: fc.jsonValue() })
    fc.assert(
      fc.property(conversation, fc.array(unknown, { maxLength: 5 }), (turns, blocks) => {
        const request = toMessages(turns)
        const content = blocks.filter(({ type }) => !KNOWN.has(type))
        const messages = [
          ...request.messages,
          { role: 'user' as const, content: [...content, { type: 'text', text: 'x' }] },
        ]
        const tools = content.map(({ type }) => ({ type: `${type}_20310101`, name: 'it' }))
        const whole = { ...request, messages, tools }
        const { body } = messagesToChat(toReadableRequest(whole))
        expect(body.tools ?? []).toHaveLength(tools.length)
        expect(serverFeaturesOf(whole)).toHaveLength(tools.length)
        for (const { data } of content)
          expect(JSON.stringify(body.messages)).toContain(JSON.stringify(JSON.stringify(data)).slice(1, -1))
      }),
    )
  })
})

const KNOWN: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_reference',
  'tool_result',
])
