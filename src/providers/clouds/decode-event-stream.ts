import { EventStreamCodec } from '@smithy/core/event-streams'
import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { invalidAnswer, UpstreamError } from '../failures/upstream-error.ts'

/** The content type of the binary event stream of AWS. */
export const AWS_EVENT_STREAM = 'application/vnd.amazon.eventstream'

/** A frame begins with its length, so a larger one is refused before it is waited for. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024
/** Two lengths, their checksum, and the checksum of the frame. */
const FRAME_BYTES_MIN = 16

/** The statuses of errors within a stream, from the reference of `ResponseStream`. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['internalServerException', 500],
  ['modelStreamErrorException', 502],
  ['modelTimeoutException', 408],
  ['serviceUnavailableException', 503],
  ['throttlingException', 429],
  ['validationException', 400],
])

/**
 * Reads the stream of InvokeModelWithResponseStream: the events of the model's own wire that arrived together.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html
 */
export function decodeEventStream(
  provider: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly Buffer[], void> {
  return decodeFrames(provider, chunks, (kind, text) => {
    if (kind !== 'chunk') return null
    const content: unknown = parseJson(text)
    const bytes = isRecord(content) ? content['bytes'] : undefined
    if (typeof bytes !== 'string') throw invalidAnswer(provider, 'an event of its stream has no content')
    return Buffer.from(bytes, 'base64')
  })
}

/** Returns what an event says, or null if it says nothing that is known. */
type EventReader<Event> = (kind: string, text: string) => Event | null

/**
 * Reads the binary event stream of AWS: the events that arrived together. Checks both checksums of each frame. Throws an `UpstreamError`
 * for an error within the stream, for a frame that is invalid, and if the stream ends within a frame.
 */
export async function* decodeFrames<Event>(
  provider: string,
  chunks: AsyncIterable<Uint8Array>,
  read: EventReader<Event>,
): AsyncGenerator<readonly Event[], void> {
  const decoder = new FrameDecoder(provider, read)
  for await (const chunk of chunks) {
    const { events, failure } = decoder.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    if (events.length > 0) yield events
    if (failure !== null) throw failure
  }
  if (decoder.isWithinFrame)
    throw new UpstreamError(`${provider} ended its stream within an event`, { failure: 'cut', provider })
}

class FrameDecoder<Event> {
  readonly #provider: string
  readonly #read: EventReader<Event>
  readonly #codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
    (text) => Buffer.from(text),
  )
  /** Parts of a frame whose end has not arrived. */
  #parts: Buffer[] = []
  #bytes = 0

  constructor(provider: string, read: EventReader<Event>) {
    this.#provider = provider
    this.#read = read
  }

  get isWithinFrame(): boolean {
    return this.#bytes > 0
  }

  /** Nothing may be pushed after a failure. */
  push(chunk: Buffer): { readonly events: readonly Event[]; readonly failure: UpstreamError | null } {
    this.#parts.push(chunk)
    this.#bytes += chunk.length
    const events: Event[] = []
    try {
      for (let frame = this.#takeFrame(); frame !== null; frame = this.#takeFrame()) {
        const event = this.#readFrame(frame)
        if (event !== null) events.push(event)
      }
    } catch (error) {
      const failure =
        error instanceof UpstreamError ? error : this.#invalid('a frame of its stream is invalid')
      return { events, failure }
    }
    return { events, failure: null }
  }

  #takeFrame(): Buffer | null {
    const [first] = this.#parts
    if (first === undefined || this.#bytes < 4) return null
    // Parts are joined once for the length, and once for the frame.
    const head = first.length >= 4 ? first : this.#join()
    const length = head.readUInt32BE(0)
    if (length < FRAME_BYTES_MIN || length > FRAME_BYTES_MAX)
      throw this.#invalid('a frame has an impossible length')
    if (this.#bytes < length) return null
    const all = this.#join()
    this.#bytes -= length
    this.#parts = this.#bytes === 0 ? [] : [all.subarray(length)]
    return all.subarray(0, length)
  }

  #join(): Buffer {
    const [first] = this.#parts
    const all = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts)
    this.#parts = [all]
    return all
  }

  #readFrame(frame: Buffer): Event | null {
    const { headers, body } = this.#codec.decode(frame)
    const header = (name: string) => String(headers[name]?.value ?? '')
    const text = Buffer.from(body).toString('utf8')
    if (header(':message-type') !== 'event')
      throw this.#failureOf(header(':exception-type') || header(':error-code'), text)
    return this.#read(header(':event-type'), text)
  }

  #failureOf(kind: string, text: string): UpstreamError {
    const status = STATUSES.get(kind) ?? 500
    const provider = this.#provider
    const message = readMessage(text)
    return new UpstreamError(`${provider} broke off with ${status}`, {
      failure: 'status',
      provider,
      status,
      ...(message === undefined ? {} : { upstreamMessage: message }),
      ...(/^\w{1,60}$/.test(kind) ? { upstreamCode: kind } : {}),
    })
  }

  #invalid(what: string): UpstreamError {
    return invalidAnswer(this.#provider, what)
  }
}

const MESSAGE_LENGTH_MAX = 2_000

function readMessage(text: string): string | undefined {
  try {
    const content: unknown = parseJson(text)
    const message = isRecord(content) ? content['message'] : undefined
    return typeof message === 'string' ? message.slice(0, MESSAGE_LENGTH_MAX) : undefined
  } catch {
    return undefined
  }
}
