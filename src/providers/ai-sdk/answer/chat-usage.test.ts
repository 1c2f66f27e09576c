import { expect, test } from 'vitest'
import { sumChatUsage, toChatUsage } from './chat-usage.ts'

const NO_INPUT = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
const NO_OUTPUT = { total: undefined, text: undefined, reasoning: undefined }

test('a vendor that reports no usage is not treated as one that used nothing', () => {
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

test('the audio part of a prompt that Google reports is counted as audio', () => {
  const usageOf = (promptTokensDetails: { modality: string; tokenCount: number }[]) =>
    toChatUsage({
      inputTokens: { ...NO_INPUT, total: 50 },
      outputTokens: { ...NO_OUTPUT, total: 5 },
      raw: { promptTokensDetails },
    })
  const text = { modality: 'TEXT', tokenCount: 10 }
  const heard = usageOf([text, { modality: 'AUDIO', tokenCount: 32 }, { modality: 'AUDIO', tokenCount: 8 }])
  expect(heard?.prompt_tokens_details).toEqual({ cached_tokens: 0, audio_tokens: 40 })
  expect(usageOf([text])?.prompt_tokens_details).toEqual({ cached_tokens: 0, audio_tokens: 0 })
  expect(sumChatUsage([heard, heard])?.prompt_tokens_details.audio_tokens).toBe(80)
})
