import { expect, test } from 'vitest'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { createCatalog, type CatalogModel } from '../../catalog/catalog.ts'
import { estimateChat, outputTokensCovered, type WorstCase } from '../estimate/estimate-cost.ts'
import { audioOfChat } from './audio-tokens.ts'

const worstCaseOf = (model: CatalogModel, members: Omit<ChatRequest, 'model'>): WorstCase => {
  const body = { model: model.id, ...members }
  return estimateChat(model, body, Buffer.byteLength(JSON.stringify(body)))
}

test('audio is held at its own prices, in the prompt and in the answer', () => {
  const model = createCatalog({ now: () => 0 }).resolve('gpt-4o')
  if (!model) throw new Error('no such model')
  const { price } = model
  if (price.unit !== 'token') throw new Error('priced by the token')
  const hearing = {
    ...model,
    price: { ...price, audioInputNanoUsdPer1m: 40_000_000_000n, audioOutputNanoUsdPer1m: 80_000_000_000n },
  }
  const recording = Buffer.alloc(99_999)
  recording.set([0xff, 0xfb, 0x90, 0x64])
  const data = recording.toString('base64')
  const clip = { type: 'input_audio' as const, input_audio: { data, format: 'mp3' } }
  const messages: ChatRequest['messages'] = [{ role: 'user', content: [clip] }]
  // At most 100 seconds of 40 tokens each.
  const textual = worstCaseOf(model, { messages, max_tokens: 10 })
  const heard = worstCaseOf(hearing, { messages, max_tokens: 10 })
  expect(heard.wantedNanoUsd - textual.wantedNanoUsd).toBe(4000n * (40_000n - 2_500n))
  const askFor = (modalities: string[]) => ({ messages, max_tokens: 10, modalities })
  const spoken = worstCaseOf(hearing, askFor(['text', 'audio']))
  // A request of the same length, because its bytes count as prompt text.
  const written = worstCaseOf(hearing, askFor(['text', 'image']))
  expect(spoken.wantedNanoUsd - written.wantedNanoUsd).toBe(10n * (80_000n - 10_000n))
  expect(outputTokensCovered(spoken, spoken.wantedNanoUsd - 80_000n)).toBe(9)
})

test('audio without reported tokens is counted by the second, WAV by its header', () => {
  const wave = Buffer.alloc(3_200_044)
  wave.write('RIFF', 0, 'latin1')
  wave.write('WAVEfmt ', 8, 'latin1')
  wave.writeUInt16LE(1, 20)
  wave.writeUInt16LE(1, 22)
  wave.writeUInt32LE(16_000, 24)
  wave.writeUInt32LE(32_000, 28)
  wave.writeUInt16LE(2, 32)
  wave.writeUInt16LE(16, 34)
  const audioOf = (data: Buffer, format: string) => {
    const content = [{ type: 'input_audio' as const, input_audio: { data: data.toString('base64'), format } }]
    return audioOfChat({ model: 'any', messages: [{ role: 'user', content }] }).promptTokens
  }
  const expected = 100 * 32
  expect(Math.abs(audioOf(wave, 'wav') - expected)).toBeLessThan(5)
  expect(Math.abs(audioOf(Buffer.alloc(800_000), 'mp3') - expected)).toBeLessThan(5)
  expect(audioOf(Buffer.alloc(30), 'mp3')).toBe(1000)
})
