import { frameEvents } from '../frame-events.ts'
import { openAiWire } from '../openai-chat/openai-wire.ts'
import type { StreamWriter, Wire } from '../wire.ts'

const NOTHING = Buffer.alloc(0)

/** Counts events, because each has a sequence number, including an error. */
function openStream(): StreamWriter {
  let sequence = 0
  return {
    write(batch) {
      sequence += batch.length
      return frameEvents(batch)
    },
    // The last event of a response ends the stream.
    end: () => NOTHING,
    fail({ code, message, param }) {
      const payload = { type: 'error', sequence_number: sequence, code, message, param }
      return `event: error\ndata: ${JSON.stringify(payload)}\n\n`
    },
  }
}

/** OpenAI's Responses API. */
export const responsesWire: Wire = {
  id: 'openai-responses',
  formatError: (error) => openAiWire.formatError(error),
  keepAlive: openAiWire.keepAlive,
  // Responses do not share a common last byte sequence, so check the type of the last event. A failed stream ends with an error.
  isWholeStream: (lastPiece) => WHOLE.test(lastPiece.toString('latin1', 0, WHOLE_LENGTH_MAX)),
  openStream,
}

const WHOLE = /^event: response\.(completed|incomplete)\n/
const WHOLE_LENGTH_MAX = 64
