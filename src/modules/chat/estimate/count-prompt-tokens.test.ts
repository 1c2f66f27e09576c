import { describe, expect, test } from 'vitest'
import { countTokens } from '../../../kernel/tokens/count-tokens.ts'
import { countChatPromptTokens, countCompletionPromptTokens } from './count-prompt-tokens.ts'

describe("the gateway's own count of a prompt", () => {
  test('is exact for usual lengths', () => {
    const sentence = 'The committee met to discuss the budget; nobody was surprised. '
    const content = sentence.repeat(300)
    const body = { model: 'm', messages: [{ role: 'user' as const, content }] }
    expect(countChatPromptTokens(body, countTokens)).toBe(4 + countTokens(content))
  })

  test('is sampled for megabytes', () => {
    let counted = 0
    const count = (text: string) => {
      counted += text.length
      return text.length / 4
    }
    const prompt = 'word '.repeat(2_000_000)
    expect(countCompletionPromptTokens({ model: 'm', prompt }, count)).toBeCloseTo(2_500_000, -3)
    expect(counted).toBeLessThan(150_000)
  })

  test("the gateway's own count of a prompt of token ids is the length of the list", () => {
    expect(countCompletionPromptTokens({ model: 'm', prompt: [[1, 2], [3]] }, countTokens)).toBe(3)
    expect(countCompletionPromptTokens({ model: 'm', prompt: [1, 2, 3] }, countTokens)).toBe(3)
  })
})
