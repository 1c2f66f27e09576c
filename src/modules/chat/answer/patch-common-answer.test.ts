import { expect, test } from 'vitest'
import { patchCommonAnswer } from './patch-common-answer.ts'

const usage = { promptTokens: 70, cachedTokens: 10, completionTokens: 92, reasoningTokens: 0 }
const reported = {
  prompt_tokens: 70,
  completion_tokens: 92,
  total_tokens: 162,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
}
const answer = {
  id: 'chatcmpl-1',
  model: 'gpt-4o-2024',
  choices: [{ message: { content: 'say "usage": {} and "model": "x" \\ }' } }],
  usage: reported,
  system_fingerprint: 'fp',
}

const edit = (members: Record<string, unknown>, text = JSON.stringify(members)) =>
  patchCommonAnswer(text, { members, requestedModel: 'gpt-4o', usage, costNanoUsd: 81_000n })

test('a complete usage gets its cost and the model its public name; all other bytes stay', () => {
  const edited = edit(answer)
  const expected = JSON.stringify({ ...answer, model: 'gpt-4o', usage: { ...reported, cost_usd: 0.5 } })
  expect(edited).toBe(expected.replace('"cost_usd":0.5', '"cost_usd":0.000081'))
})

test('a model that already has its public name stays unchanged', () => {
  expect(JSON.parse(edit({ ...answer, model: 'gpt-4o' }) ?? '')).toEqual({
    ...answer,
    model: 'gpt-4o',
    usage: { ...reported, cost_usd: 0.000081 },
  })
})

test('an unusual answer is left to the parser', () => {
  const { prompt_tokens_details: _details, ...partial } = reported
  for (const members of [
    { ...answer, usage: null },
    { ...answer, usage: partial },
    { ...answer, usage: { ...reported, total_tokens: 163 } },
    { ...answer, usage: { ...reported, cost_usd: 1 } },
    { ...answer, choices: [{ usage: {} }] },
    { ...answer, choices: [{ model: 'x' }] },
    { ...answer, choices: [{ role: 'model' }] },
  ]) {
    expect(edit(members)).toBeNull()
  }
  expect(edit(answer, JSON.stringify(answer).replace('"usage":', '"usage" :'))).toBeNull()
  expect(edit(answer, JSON.stringify(Object.fromEntries(Object.entries(answer).toReversed())))).toBeNull()
})
