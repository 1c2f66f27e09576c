import { expect, test } from 'vitest'
import { parseAnswer } from './parse-answer.ts'

const alternatives = (tokens: number) =>
  Array.from({ length: tokens }, (_, at) => ({ token: 'a', logprob: -1 - at }))

const received = (text: string) => ({ kind: 'complete' as const, payload: Buffer.from(text) })

test('a short answer is parsed at once', () => {
  const answer = { choices: [{ logprobs: alternatives(10) }] }
  expect(parseAnswer(received(JSON.stringify(answer)))).toMatchObject({ value: answer })
})

test('an answer with alternatives of every token gives other work its turns', async () => {
  const answer = { choices: [{ logprobs: alternatives(50_000) }] }
  const parsing = parseAnswer(received(JSON.stringify(answer)))
  let turns = 0
  let isParsed = false
  const count = () => {
    turns += 1
    if (!isParsed) setImmediate(count)
  }
  setImmediate(count)
  const { value } = await parsing
  isParsed = true
  expect(value).toEqual(answer)
  expect(turns).toBeGreaterThan(5)
})

test.each(['{"choices":', '', `[${'1,'.repeat(200_000)}`])(
  'an answer that is not JSON has no value',
  async (text) => {
    expect(await parseAnswer(received(text))).toEqual({ text, value: null })
  },
)
