import { usdFromNanoUsd } from '../../kernel/money.ts'
import type { InferenceRecord } from '../../modules/inference/inference.ts'
import type { SpeechWork } from '../../providers/media-work.ts'

/** Audio as the events of OpenAI's wire: its bytes piece by piece, each in base64 of its own, then what it cost. */
export async function* speechEvents(
  batches: AsyncIterable<readonly Uint8Array[]>,
  { input }: SpeechWork,
  record: InferenceRecord,
): AsyncGenerator<readonly Buffer[]> {
  for await (const batch of batches)
    yield [toPayload({ type: 'speech.audio.delta', audio: Buffer.concat(batch).toString('base64') })]
  // Speech is priced by the character; tokens are what OpenAI's clients read.
  const tokens = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }
  const usage = {
    ...tokens,
    characters: Array.from(input).length,
    cost_usd: usdFromNanoUsd(record.costNanoUsd ?? 0n),
  }
  yield [toPayload({ type: 'speech.audio.done', usage })]
}

function toPayload(event: unknown): Buffer {
  return Buffer.from(JSON.stringify(event))
}
