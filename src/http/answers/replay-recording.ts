import type { Wire } from '../../wires/wire.ts'
import type { ResponseMessage } from '../message.ts'

/** A sent answer. */
export interface RecordedAnswer {
  readonly status: number
  /** Alternating names and values. */
  readonly headers: readonly string[]
  /** Null if it was too large to store. */
  readonly body: Buffer | null
  /** False for an interrupted stream. */
  readonly isWhole: boolean
}

export interface Recording {
  /** Whether the answer has ended. The client may have disconnected. */
  readonly hasEnded: boolean
  /** Stores the answer as if it had ended with these bytes. */
  keepAsEndedWith(bytes: Buffer): void
}

/** Records what is written to a response, and delays the last bytes until `onEnd` has resolved. */
export function recordAnswer(
  response: ResponseMessage,
  options: {
    readonly bytesMax: number
    readonly wire: Pick<Wire, 'keepAlive' | 'isWholeStream'>
    readonly onEnd: (answer: RecordedAnswer) => Promise<void>
  },
): Recording {
  const writeHead = response.writeHead.bind(response)
  const write = response.write.bind(response)
  const end = response.end.bind(response)
  let keptEnd: Buffer | null = null
  const recording = {
    hasEnded: false,
    keepAsEndedWith: (bytes: Buffer) => {
      keptEnd = bytes
    },
  }
  const pieces: Buffer[] = []
  let headers: readonly string[] = []
  let lastPiece: Buffer = Buffer.alloc(0)
  let bytes = 0

  const note = (chunk: unknown, encoding: unknown): void => {
    const piece = toBuffer(chunk, encoding)
    // Keep-alives are not part of the answer.
    if (piece === null || piece.length === 0 || piece.equals(options.wire.keepAlive)) return
    lastPiece = piece
    bytes += piece.length
    if (bytes <= options.bytesMax) pieces.push(piece)
    else pieces.length = 0
  }
  const conclude = (): RecordedAnswer => {
    const isStream = headers.some((value) => value.startsWith('text/event-stream'))
    return {
      status: response.statusCode,
      headers,
      body: bytes <= options.bytesMax ? Buffer.concat(pieces) : null,
      isWhole: !isStream || options.wire.isWholeStream(lastPiece),
    }
  }

  const noteHead: ResponseMessage['writeHead'] = (...values: unknown[]) => {
    headers = readHeaders(values.at(-1))
    return Reflect.apply(writeHead, response, values)
  }
  const notePiece: ResponseMessage['write'] = (...values: unknown[]) => {
    note(values[0], values[1])
    return Reflect.apply(write, response, values)
  }
  const noteEnd: ResponseMessage['end'] = (...values: unknown[]) => {
    if (recording.hasEnded) return response
    recording.hasEnded = true
    if (keptEnd === null) note(values[0], values[1])
    else note(keptEnd, null)
    void options.onEnd(conclude()).finally(() => Reflect.apply(end, response, values))
    return response
  }
  response.writeHead = noteHead
  response.write = notePiece
  response.end = noteEnd
  return recording
}

export function toBuffer(chunk: unknown, encoding: unknown): Buffer | null {
  if (Buffer.isBuffer(chunk)) return chunk
  if (chunk instanceof Uint8Array) return Buffer.from(chunk)
  if (typeof chunk !== 'string') return null
  return Buffer.from(chunk, encoding === 'latin1' ? 'latin1' : 'utf8')
}

/** Reads both header formats of Node: alternating names and values, or an object. */
function readHeaders(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, values]) =>
    (Array.isArray(values) ? values : [values]).flatMap((one) => [name.toLowerCase(), String(one)]),
  )
}
