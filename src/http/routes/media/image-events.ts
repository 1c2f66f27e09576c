import { isRecord } from '../../../kernel/is-record.ts'
import type { ImageGenerationRequest } from './image-wire.ts'

/** What a stream tells of the request. */
type Asked = Pick<ImageGenerationRequest, 'size' | 'quality' | 'background' | 'output_format'>

/**
 * Yields the images of an answer as OpenAI's stream events, one for each. Partial images are not sent: a vendor bills them, and
 * OpenAI's clients expect fewer of them if an image is made quickly.
 */
export async function* imageEvents(
  answer: Readonly<Record<string, unknown>>,
  asked: Asked,
  operation: 'image_generation' | 'image_edit',
): AsyncGenerator<readonly Buffer[]> {
  const { data, usage } = answer
  const images: unknown[] = Array.isArray(data) ? data : []
  for (const image of images) {
    const event = {
      type: `${operation}.completed`,
      b64_json: isRecord(image) ? image['b64_json'] : null,
      created_at: answer['created'],
      size: asked.size ?? 'auto',
      quality: asked.quality ?? 'auto',
      background: asked.background ?? 'auto',
      output_format: asked.output_format ?? 'png',
      // Images are priced by the image. The token counts are there because OpenAI's clients read them.
      usage: { ...NO_TOKENS, ...(isRecord(usage) ? usage : {}) },
    }
    yield [Buffer.from(JSON.stringify(event))]
  }
}

const NO_TOKENS = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
}
