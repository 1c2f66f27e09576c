import { expect, test } from 'vitest'
import { sumChatUsage, toChatUsage } from './chat-usage.ts'

const NO_INPUT = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
const NO_OUTPUT = { total: undefined, text: undefined, reasoning: undefined }

test('a vendor that tells nothing of its usage is not taken for one that used nothing', () => {
  const silent = toChatUsage({ inputTokens: NO_INPUT, outputTokens: NO_OUTPUT })
  const told = toChatUsage({
    inputTokens: { ...NO_INPUT, total: 3 },
    outputTokens: { ...NO_OUTPUT, total: 0 },
  })
  expect(silent).toBeUndefined()
  expect(told).toMatchObject({ prompt_tokens: 3, completion_tokens: 0 })
  expect(sumChatUsage([told, silent])).toBeUndefined()
  expect(sumChatUsage([told, told])).toMatchObject({ prompt_tokens: 6 })
})
