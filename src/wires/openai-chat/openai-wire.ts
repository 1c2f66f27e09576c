import { endsWith } from '../ends-with.ts'
import type { StreamWriter, Wire, WireError } from '../wire.ts'

const FRAME_START = Buffer.from('data: ')
const FRAME_END = Buffer.from('\n\n')
const DONE = Buffer.from('data: [DONE]\n\n')

/** Writes chunks unchanged. */
const CHUNKS: StreamWriter = {
  write(batch) {
    if (batch.frames !== undefined) return batch.frames
    const pieces: Buffer[] = []
    for (const payload of batch) pieces.push(FRAME_START, payload, FRAME_END)
    return Buffer.concat(pieces)
  },
  end: () => DONE,
  fail: (error) => `data: ${JSON.stringify(formatError(error))}\n\n`,
}

function formatError({ message, type, param, code, requestId }: WireError): object {
  return { error: { message, type, param, code, request_id: requestId } }
}

/** OpenAI's chat completions and legacy completions. Its error format is also used on all routes without a wire of their own. */
export const openAiWire: Wire = {
  id: 'openai-chat',
  formatError,
  keepAlive: Buffer.from(': keep-alive\n\n'),
  isWholeStream: (lastFrames) => endsWith(lastFrames, DONE),
  openStream: () => CHUNKS,
}
