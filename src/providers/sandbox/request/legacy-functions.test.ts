import { expect, test } from 'vitest'
import { chatOnce, chatStream, userMessage } from '../testing/sandbox-client.ts'

const functions = [
  {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  { name: 'book_table', parameters: { type: 'object', properties: { seats: { type: 'integer' } } } },
]
const ask = (content: string, rest: object = {}) => ({ messages: [userMessage(content)], functions, ...rest })

test('a legacy function is called if the message is about it, as function_call', async () => {
  const { choices } = await chatOnce(ask('What is the weather in Paris?'))
  expect(choices[0]).toMatchObject({
    finish_reason: 'function_call',
    message: { content: null, function_call: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
  })
  expect(choices[0]?.message).not.toHaveProperty('tool_calls')
})

test('function_call forces one, forbids all, or leaves it to the message', async () => {
  const forced = await chatOnce(ask('Hello', { function_call: { name: 'book_table' } }))
  expect(forced.choices[0]).toMatchObject({ message: { function_call: { name: 'book_table' } } })
  for (const rest of [{ function_call: 'none' }, { function_call: 'auto' }]) {
    const content = rest.function_call === 'none' ? 'What is the weather in Paris?' : 'Hello'
    const { choices } = await chatOnce(ask(content, rest))
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: expect.any(String) } })
  }
})

test('a streamed call is sent in fragments of function_call', async () => {
  const chunks = await chatStream(ask('What is the weather in Paris?'))
  const calls = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => Object.entries(delta)))
  const pieces = calls.flatMap(([name, value]) => (name === 'function_call' ? [value] : [])) as unknown as {
    name?: string
    arguments: string
  }[]
  expect(pieces[0]).toEqual({ name: 'get_weather', arguments: '' })
  expect(pieces.map((piece) => piece.arguments).join('')).toBe('{"city":"Paris"}')
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('function_call')
})

test('the result of a function is quoted, and the function is not called again', async () => {
  const { choices } = await chatOnce({
    functions,
    messages: [
      userMessage('What is the weather in Paris?'),
      { role: 'assistant', content: null, function_call: { name: 'get_weather', arguments: '{}' } },
      { role: 'function', name: 'get_weather', content: 'Eighteen degrees' },
    ],
  })
  expect(choices[0]?.message.content).toContain('Eighteen degrees')
})
