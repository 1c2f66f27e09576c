import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPieces } from '../chat/read-events.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { chunk, chunksOf, pacedStream, stream, USAGE } from '../upstreams/openai-server.ts'
import {
  COST_USD,
  MESSAGES,
  messagesBody,
  parseNamedEvents,
  startMessagesGateway,
} from './start-messages-gateway.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startMessagesGateway({ PARKWAY_DRAINS_MAX: '0' })
})

afterAll(() => gateway.close())

async function streamed(members: object = {}) {
  const response = await gateway.fetch('POST', MESSAGES, { body: messagesBody({ stream: true, ...members }) })
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ])
  return parseNamedEvents(await response.text())
}

const namesOf = (events: readonly { name: string }[]) => events.map(({ name }) => name)

describe('a stream', () => {
  test('has one beginning, blocks without gaps, and the usage with the cost at its end', async () => {
    gateway.upstream.respondWith(stream(chunksOf('Hel', 'lo')))
    const events = await streamed()
    expect(namesOf(events)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(events[0]?.data.message).toMatchObject({
      id: 'msg_upstream',
      model: 'scripted',
      content: [],
      stop_reason: null,
    })
    expect(events.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: {
        input_tokens: USAGE.prompt_tokens,
        output_tokens: USAGE.completion_tokens,
        cost_usd: COST_USD,
      },
    })
  })

  test('has reasoning, its own signature, text and calls one after the other', async () => {
    const signed = { type: 'reasoning.text', signature: 'signed', format: 'anthropic-claude-v1' }
    const call = (index: number, members: object) => chunk({ delta: { tool_calls: [{ index, ...members }] } })
    gateway.upstream.respondWith(
      stream([
        chunk({ delta: { role: 'assistant', reasoning_content: 'Hm' } }),
        chunk({ delta: { reasoning_content: '.' } }),
        chunk({ delta: { reasoning_details: [signed] } }),
        chunk({ delta: { content: 'I look.' } }),
        call(0, { id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }),
        call(0, { function: { arguments: '{"at":' } }),
        call(1, { id: 'call_2', type: 'function', function: { name: 'hear', arguments: '{"to":' } }),
        call(0, { function: { arguments: '"it"}' } }),
        call(1, { function: { arguments: '"her"}' } }),
        chunk({ finish_reason: 'tool_calls' }),
        chunk({ choices: [], usage: USAGE }),
      ]),
    )
    const events = await streamed()
    const blocks: { start: object; text: string; kinds: Set<string> }[] = []
    for (const { name, data } of events) {
      if (name === 'content_block_start') {
        expect(data.index).toBe(blocks.length)
        blocks.push({ start: data.content_block, text: '', kinds: new Set() })
      }
      if (name !== 'content_block_delta') continue
      const { type, text, thinking, signature, partial_json: json } = data.delta
      const block = blocks[data.index]
      block?.kinds.add(type)
      if (block) block.text += text ?? thinking ?? json ?? `[${signature}]`
    }
    expect(blocks).toEqual([
      {
        start: { type: 'thinking', thinking: '', signature: '' },
        text: 'Hm.[signed]',
        kinds: new Set(['thinking_delta', 'signature_delta']),
      },
      { start: { type: 'text', text: '' }, text: 'I look.', kinds: new Set(['text_delta']) },
      {
        start: { type: 'tool_use', id: 'call_1', name: 'look', input: {}, caller: { type: 'direct' } },
        text: '{"at":"it"}',
        kinds: new Set(['input_json_delta']),
      },
      {
        start: { type: 'tool_use', id: 'call_2', name: 'hear', input: {}, caller: { type: 'direct' } },
        text: '{"to":"her"}',
        kinds: new Set(['input_json_delta']),
      },
    ])
    expect(events.at(-2)?.data.delta.stop_reason).toBe('tool_use')
  })

  test('a stream that fails mid-stream ends with an error, and what was delivered is charged', async () => {
    const before = (await gateway.request('GET', '/v1/usage/records')).body.total
    gateway.upstream.respondWith(stream([chunk({ delta: { content: 'Hel' } })], { ending: 'cut' }))
    const events = await streamed()
    expect(namesOf(events)).not.toContain('message_stop')
    expect(events.at(-1)?.data).toMatchObject({
      type: 'error',
      error: { type: 'api_error', code: 'provider_error' },
      request_id: expect.stringMatching(/^req_/),
    })
    const { data, total } = (await gateway.request('GET', '/v1/usage/records')).body
    expect([total, data[0].operation, data[0].outcome]).toEqual([before + 1, 'messages', 'failed'])
    expect(data[0].cost_usd).toBeGreaterThan(0)
  })

  test('a stream whose client disconnects is charged', async () => {
    const paced = pacedStream()
    gateway.upstream.respondWith(paced.reply)
    const response = gateway.fetch('POST', MESSAGES, { body: messagesBody({ stream: true }) })
    paced.release(chunk({ delta: { content: 'Hello' } }))
    const reader = readPieces(await response)
    await reader.until(/Hello/)
    await reader.cancel()
    await eventually(async () => {
      const [record] = (await gateway.request('GET', '/v1/usage/records')).body.data
      expect(record).toMatchObject({ operation: 'messages', outcome: 'disconnected' })
      expect(record.cost_usd).toBeGreaterThan(0)
    })
  })

  test('a stream of an upstream without usage is counted and charged', async () => {
    gateway.upstream.respondWith(
      stream([chunk({ delta: { content: 'Hello' } }), chunk({ finish_reason: 'stop' })]),
    )
    const { usage } = (await streamed()).at(-2)?.data ?? {}
    expect(usage.output_tokens).toBeGreaterThan(0)
    expect(usage.cost_usd).toBeGreaterThan(0)
  })

  test('is replayed under its key, and charged once', async () => {
    gateway.upstream.respondWith(stream(chunksOf('Hello')))
    const again = async () => {
      const headers = { 'idempotency-key': 'one-message' }
      const response = await gateway.fetch('POST', MESSAGES, {
        body: messagesBody({ stream: true }),
        headers,
      })
      return [response.headers.get('idempotent-replayed'), await response.text()]
    }
    const before = (await gateway.request('GET', '/v1/usage/records')).body.total
    const [, text] = await again()
    expect(await again()).toEqual(['true', text])
    expect((await gateway.request('GET', '/v1/usage/records')).body.total).toBe(before + 1)
  })
})
