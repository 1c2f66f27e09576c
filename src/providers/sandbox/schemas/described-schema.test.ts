import { expect, test } from 'vitest'
import { chatOnce, userMessage } from '../testing/sandbox-client.ts'

const ask = async (messages: object[]): Promise<unknown> => {
  const { choices } = await chatOnce({ messages, response_format: { type: 'json_object' } })
  return JSON.parse(choices[0]?.message.content ?? '')
}

test('a JSON schema in the instructions is followed', async () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      recipe: {
        type: 'object',
        properties: { name: { type: 'string' }, minutes: { type: 'integer' } },
        required: ['name', 'minutes'],
        additionalProperties: false,
      },
      tags: { type: 'array', items: { enum: ['sweet', 'salty'] } },
    },
    required: ['recipe', 'tags'],
    additionalProperties: false,
  }
  const system = `JSON schema:\n${JSON.stringify(schema)}\nYou MUST answer with a JSON object that matches the schema.`
  const made = await ask([{ role: 'system', content: system }, userMessage('A lasagna recipe {please}.')])
  expect(made).toEqual({
    recipe: { name: expect.any(String), minutes: expect.any(Number) },
    tags: expect.arrayContaining([expect.stringMatching(/^(sweet|salty)$/)]),
  })
})

test('an example in the prompt is followed', async () => {
  const made = await ask([
    userMessage(
      'Reply in JSON like {"city": "Rome", "people": 1, "sights": ["x"], "big": true}. Which city?',
    ),
  ])
  expect(made).toEqual({
    city: expect.any(String),
    people: expect.any(Number),
    sights: expect.arrayContaining([expect.any(String)]),
    big: expect.any(Boolean),
  })
})

test('names of members in the prompt are followed', async () => {
  const made = await ask([
    userMessage('Answer as a JSON object with the keys "title", `year` and \'author\'.'),
  ])
  expect(Object.keys(made as object)).toEqual(['title', 'year', 'author'])
})

test('without a description the sandbox answers with its own object', async () => {
  expect(await ask([userMessage('Answer in JSON. Braces { do not matter } to it.')])).toMatchObject({
    sandbox: true,
  })
})
