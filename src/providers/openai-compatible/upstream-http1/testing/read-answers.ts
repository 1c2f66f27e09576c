import { AnswerReader, type AnswerSink } from '../answer-reader.ts'
import type { AnswerHead } from '../answer-head.ts'
import type { AnswerHeaders } from '../post-dispatcher.ts'

/** The result of reading one answer. */
export interface ReadAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: string
  /** Number of pieces in which the body was delivered. */
  readonly pieces: number
  readonly keepAliveMs: number
  readonly outcome: 'clean' | 'followed' | 'closed' | 'cut' | 'refused'
  /** Why the answer was refused. */
  readonly message: string
}

/** Reads the pieces of one answer, followed by the end of the connection. */
export function readAnswer(pieces: readonly Buffer[]): ReadAnswer {
  const sink = new RecordingSink()
  const reader = new AnswerReader(sink)
  reader.start()
  // One buffer for all reads, as on a socket: bytes of earlier reads remain after the current ones.
  const shared = Buffer.alloc(Math.max(1, ...pieces.map(({ length }) => length)))
  try {
    for (const piece of pieces) {
      if (piece.length === 0) continue
      if (sink.end !== null) {
        sink.end = 'followed'
        break
      }
      piece.copy(shared)
      reader.read(shared, piece.length)
    }
  } catch (error) {
    return sink.answer('refused', error instanceof Error ? error.message : String(error))
  }
  return sink.answer(sink.end ?? (reader.readEnd() ? 'closed' : 'cut'))
}

/** Splits into single bytes. */
export function split(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1))
}

class RecordingSink implements AnswerSink {
  end: 'clean' | 'followed' | null = null
  #head: AnswerHead | null = null
  readonly #pieces: Buffer[] = []

  onHead(head: AnswerHead): void {
    this.#head = head
  }

  onBody(bytes: Buffer): void {
    this.#pieces.push(bytes)
  }

  onEnd(isClean: boolean): void {
    this.end = isClean ? 'clean' : 'followed'
  }

  answer(outcome: ReadAnswer['outcome'], message = ''): ReadAnswer {
    return {
      status: this.#head?.status ?? 0,
      headers: pickHeaders(this.#head?.headers ?? {}),
      body: Buffer.concat(this.#pieces).toString('latin1'),
      pieces: this.#pieces.length,
      keepAliveMs: this.#head?.keepAliveMs ?? 0,
      outcome,
      message,
    }
  }
}

/** Returns only the headers of the public interface. */
export function pickHeaders(headers: AnswerHeaders): AnswerHeaders {
  return { 'content-type': headers['content-type'], 'retry-after': headers['retry-after'] }
}
