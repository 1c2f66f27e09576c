import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadTokenEncoding } from '../../src/kernel/tokens/token-encoding.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

const MODEL = 'gpt-4o-mini'
const { encode, vocabulary } = loadTokenEncoding()

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.close()
})

const echo = async (prompt: number[] | number[][]) => {
  const { choices } = await client.completions.create({ model: MODEL, prompt, echo: true })
  return choices.map(({ text }) => text)
}

test('a prompt of tokens is decoded to its text', async () => {
  const [text] = await echo(encode('Once upon a café'))
  expect(text).toMatch(/^Once upon a café/)
  const texts = await echo([encode('one fish'), encode('two fish')])
  expect(texts).toEqual([expect.stringMatching(/^one fish/), expect.stringMatching(/^two fish/)])
})

test("half a character in one prompt does not leak into the next one's text", async () => {
  const half = vocabulary.findIndex((entry) => Array.isArray(entry) && entry[0] === 0xf0)
  await echo([half])
  const [text] = await echo(encode('Clean'))
  expect(text).toMatch(/^Clean/)
})

test('an invalid token is a client error, reported with its place', async () => {
  const refused = client.completions.create({ model: MODEL, prompt: [1, 999_999_999] })
  await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_value', param: 'prompt' })
})
