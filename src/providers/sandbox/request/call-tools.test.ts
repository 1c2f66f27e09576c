import { expect, test } from 'vitest'
import { chatOnce, chatStream, joinDeltas, userMessage, type Completion } from '../testing/sandbox-client.ts'

const tool = (name: string, properties: object, description = '') => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties, required: Object.keys(properties) },
  },
})

const weather = tool('get_weather', {
  city: { type: 'string' },
  unit: { enum: ['celsius', 'fahrenheit'] },
  days: { type: 'integer', minimum: 1, maximum: 10 },
})
const stocks = tool('lookupStockPrice', { symbol: { type: 'string', pattern: '^[A-Z]{3,4}$' } })
const tools = [weather, stocks]

const ask = (content: string, rest: object = {}) => ({ messages: [userMessage(content)], tools, ...rest })
const callsOf = (completion: Completion) =>
  (completion.choices[0]?.message.tool_calls ?? []).map(({ function: called }) => ({
    name: called.name,
    arguments: JSON.parse(called.arguments) as unknown,
  }))

test('a tool is called if the message mentions it, with arguments from the message', async () => {
  const completion = await chatOnce(ask('How is the weather in Paris over 3 days, in celsius?'))
  expect(callsOf(completion)).toEqual([
    { name: 'get_weather', arguments: { city: 'Paris', unit: 'celsius', days: 3 } },
  ])
  expect(completion.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
})

test('no tool is called if the message is about something else', async () => {
  const completion = await chatOnce(ask('Hello, how are you?'))
  expect(callsOf(completion)).toEqual([])
  expect(completion.choices[0]?.message.content).toContain('Hello')
})

test('a tool is found by its description', async () => {
  const described = tool('f1', { a: { type: 'string' } }, 'Books a table at a restaurant')
  const completion = await chatOnce({
    messages: [userMessage('Find a restaurant table')],
    tools: [described],
  })
  expect(callsOf(completion)).toMatchObject([{ name: 'f1' }])
})

test('tool_choice overrides the message', async () => {
  expect(callsOf(await chatOnce(ask('Hello', { tool_choice: 'required' })))).toMatchObject([
    { name: 'get_weather' },
  ])
  expect(callsOf(await chatOnce(ask('weather?', { tool_choice: 'none' })))).toEqual([])
  const named = { type: 'function', function: { name: 'lookupStockPrice' } }
  const [call] = callsOf(await chatOnce(ask('weather?', { tool_choice: named })))
  expect(call).toMatchObject({
    name: 'lookupStockPrice',
    arguments: { symbol: expect.stringMatching(/^[A-Z]{3,4}$/) },
  })
})

test('an unknown named tool is refused as a bad request', async () => {
  const tool_choice = { type: 'function', function: { name: 'nowhere' } }
  await expect(chatOnce(ask('Hi', { tool_choice }))).rejects.toMatchObject({
    details: { failure: 'status', status: 400, upstreamParam: 'tool_choice' },
    isRequestAtFault: true,
  })
})

test('several tools are called at once, unless that is forbidden', async () => {
  const question = 'What is the weather, and the stock price?'
  expect(callsOf(await chatOnce(ask(question)))).toHaveLength(2)
  expect(callsOf(await chatOnce(ask(question, { parallel_tool_calls: false })))).toHaveLength(1)
})

test('one tool is called once for each name', async () => {
  const cities = callsOf(await chatOnce(ask('Compare the weather in Paris, New York and Tokyo')))
  expect(cities.map((call) => call.arguments)).toMatchObject([
    { city: 'Paris' },
    { city: 'New York' },
    { city: 'Tokyo' },
  ])
  expect(
    callsOf(await chatOnce(ask('Weather in Paris and Rome', { parallel_tool_calls: false }))),
  ).toHaveLength(1)
})

test('call ids are unique', async () => {
  const { choices } = await chatOnce(ask('What is the weather, and the stock price?', { n: 2 }))
  const ids = choices.flatMap(({ message }) => message.tool_calls?.map(({ id }) => id) ?? [])
  expect(new Set(ids).size).toBe(4)
  for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{24}$/)
})

test('the answer to a tool result is text that uses it', async () => {
  const messages = [
    userMessage('How is the weather?'),
    {
      role: 'assistant',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '{"celsius":21}' },
  ]
  const { choices } = await chatOnce({ messages, tools })
  expect(choices[0]?.finish_reason).toBe('stop')
  expect(choices[0]?.message.content).toContain('get_weather returned: {"celsius":21}')
})

test('streamed fragments add up to the same calls', async () => {
  const request = ask('What is the weather, and the stock price?')
  const [message] = joinDeltas(await chatStream({ ...request, stream: true }))
  const whole = await chatOnce(request)
  expect(message?.content).toBeNull()
  expect(message?.tool_calls).toMatchObject(whole.choices[0]?.message.tool_calls ?? [])
})

test('only the first fragment of a call has its id and name', async () => {
  const chunks = await chatStream(ask('weather', { stream: true }))
  const fragments = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))
  expect(fragments.length).toBeGreaterThan(3)
  expect(fragments.map(({ id }) => id !== undefined)).toEqual(fragments.map((_, index) => index === 0))
  expect(fragments.map(({ function: { name } }) => name !== undefined)).toEqual(
    fragments.map((_, index) => index === 0),
  )
})

test('calls that do not fit into max_tokens are cut', async () => {
  const { choices, usage } = await chatOnce(ask('weather', { max_tokens: 5 }))
  expect(choices[0]?.finish_reason).toBe('length')
  expect(usage?.completion_tokens).toBeLessThanOrEqual(5)
})
