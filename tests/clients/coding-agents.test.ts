import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseNamedEvents } from '../messages/start-messages-gateway.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

/** A recorded request of a program, with replaced texts and without personal data. */
interface Recorded {
  readonly path: string
  readonly headers: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into requests and fail loudly on a wrong shape
  readonly body: any
}

const recorded = async (name: string): Promise<Recorded> =>
  JSON.parse(await readFile(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'))

let gateway: TestGateway
let claudeCode: Recorded
let codex: Recorded

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '1000' } })
  ;[claudeCode, codex] = await Promise.all([recorded('claude-code'), recorded('codex')])
})

afterAll(() => gateway.close())

async function send({ path, headers }: Recorded, body: object): Promise<string> {
  const response = await gateway.fetch('POST', path, { body, headers })
  const text = await response.text()
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('event-stream'),
  ])
  return text
}

const lastRecord = async () => (await gateway.request('GET', '/v1/usage/records?limit=1')).body.data[0]

describe('Claude Code', () => {
  /** Returns the blocks of a streamed message, assembled in the same way as the program does it. */
  async function ask(messages: readonly object[]) {
    const events = parseNamedEvents(await send(claudeCode, { ...claudeCode.body, messages }))
    expect(events[0]?.name).toBe('message_start')
    expect(events.filter(({ name }) => name === 'message_start')).toHaveLength(1)
    expect(events.at(-1)?.name).toBe('message_stop')
    const blocks: Record<string, string>[] = []
    for (const { data } of events) {
      if (data.type === 'content_block_start') blocks[data.index] = { ...data.content_block, json: '' }
      const block = data.type === 'content_block_delta' ? blocks[data.index] : undefined
      if (block === undefined) continue
      const { type, ...delta } = data.delta
      const [name = '', value] = Object.entries(delta)[0] ?? []
      const member = type === 'input_json_delta' ? 'json' : name
      block[member] = (block[member] ?? '') + String(value)
    }
    const content: Record<string, unknown>[] = blocks.map(({ json, ...block }) =>
      block['type'] === 'tool_use' ? { ...block, input: JSON.parse(String(json)) } : block,
    )
    return { content, delta: events.find(({ name }) => name === 'message_delta')?.data }
  }

  test('is answered with reasoning and a call of its tool, the same each time', async () => {
    const { content, delta } = await ask(claudeCode.body.messages)
    expect(content).toMatchObject([{ type: 'thinking' }, { type: 'tool_use', name: 'Read' }])
    expect(delta.delta.stop_reason).toBe('tool_use')
    expect(delta.usage.input_tokens).toBeGreaterThan(100)
    expect(await lastRecord()).toMatchObject({ wire: 'anthropic-messages', model: 'claude-opus-5-5' })
    const withoutIds = (blocks: readonly object[]) =>
      JSON.stringify(blocks).replaceAll(/call_\w+|toolu_\w+/g, '')
    expect(withoutIds((await ask(claudeCode.body.messages)).content)).toBe(withoutIds(content))
  })

  test('continues with the result of its tool', async () => {
    const { content } = await ask(claudeCode.body.messages)
    const [thinking, call] = content
    const result = { type: 'tool_result', tool_use_id: call?.['id'], content: '1\thello from the file' }
    const { content: answer, delta } = await ask([
      ...claudeCode.body.messages,
      { role: 'assistant', content: [thinking, call] },
      { role: 'user', content: [result] },
    ])
    expect(answer.at(-1)).toMatchObject({
      type: 'text',
      text: expect.stringContaining('hello from the file'),
    })
    expect(delta.delta.stop_reason).toBe('end_turn')
  })

  test('may find tools by name, and gets the token count of its prompt', async () => {
    const search = { type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'x' } }
    const found = [{ type: 'tool_reference', tool_name: 'DeferredToolPlaceholder' }]
    const messages = [
      ...claudeCode.body.messages,
      { role: 'assistant', content: [search] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: found }] },
    ]
    expect((await ask(messages)).delta.delta.stop_reason).toMatch(/end_turn|tool_use/)
    const { stream: _stream, max_tokens: _maxTokens, ...body } = claudeCode.body
    const counted = await gateway.request('POST', '/v1/messages/count_tokens?beta=true', {
      body,
      headers: claudeCode.headers,
    })
    expect([counted.status, counted.body.input_tokens]).toEqual([200, expect.any(Number)])
  })

  test('finds models whose names it accepts', async () => {
    const { headers } = claudeCode
    const { body } = await gateway.request('GET', '/v1/models?limit=1000', { headers })
    expect(body.data.some(({ id }: { id: string }) => id.startsWith('claude'))).toBe(true)
  })
})

describe('Codex', () => {
  async function ask(input: readonly object[]) {
    const frames = (await send(codex, { ...codex.body, input })).split('\n\n').filter((frame) => frame !== '')
    const events = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7)))
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index))
    const { type, response } = events.at(-1)
    expect(type).toBe('response.completed')
    expect(response.usage).toMatchObject({
      input_tokens: expect.any(Number),
      output_tokens: expect.any(Number),
      total_tokens: response.usage.input_tokens + response.usage.output_tokens,
    })
    return response.output
  }

  test('is answered with a call of its tool, and continues with the result', async () => {
    const output = await ask(codex.body.input)
    const call = output.at(-1)
    expect(call).toMatchObject({ type: 'function_call', name: 'exec_command' })
    expect(JSON.parse(call.arguments)).toMatchObject({ cmd: expect.any(String) })
    expect(await lastRecord()).toMatchObject({ wire: 'openai-responses', model: 'gpt-5.4' })
    const result = { type: 'function_call_output', call_id: call.call_id, output: 'hello from the file' }
    const answer = await ask([...codex.body.input, ...output, result])
    expect(answer.at(-1)).toMatchObject({ type: 'message', role: 'assistant' })
    expect(answer.at(-1).content[0].text).toContain('hello from the file')
  })
})
