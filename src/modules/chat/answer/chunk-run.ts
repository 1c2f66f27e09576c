import type { EventBatch } from '../../../kernel/event-batch.ts'
import type { ReadBytes } from './chunk-template.ts'

const FRAME_START = 'data: '
const FRAME_END = '\n\n'

/** The chunks of one read on their way to the client. They are joined as Latin-1 text and become bytes once, with their frames. */
export class ChunkRun {
  #frames = ''
  readonly #lengths: number[] = []
  #firstOffset = 0

  /** Returns the bytes in which the payloads of a read lie one after the other. Null if they come from several reads. */
  bytesOf(batch: readonly Buffer[]): ReadBytes | null {
    const [first] = batch
    if (first === undefined) return null
    let end = first.byteOffset
    for (const payload of batch) {
      if (payload.buffer !== first.buffer || payload.byteOffset < end) return null
      end = payload.byteOffset + payload.length
    }
    this.#firstOffset = first.byteOffset
    const buffer = Buffer.from(first.buffer, first.byteOffset, end - first.byteOffset)
    return { buffer, text: buffer.toString('latin1') }
  }

  /** Where a payload begins in the bytes of its read. */
  offsetOf(payload: Buffer): number {
    return payload.byteOffset - this.#firstOffset
  }

  add(chunk: Buffer): void {
    this.addText(chunk.toString('latin1'))
  }

  /** `chunk` is Latin-1 text: one character a byte. */
  addText(chunk: string): void {
    this.#frames += FRAME_START + chunk + FRAME_END
    this.#lengths.push(chunk.length)
  }

  finish(): EventBatch {
    const frames = Buffer.from(this.#frames, 'latin1')
    let from = FRAME_START.length
    const chunks = this.#lengths.map((length) => {
      const chunk = frames.subarray(from, from + length)
      from += length + FRAME_END.length + FRAME_START.length
      return chunk
    })
    return Object.assign(chunks, { frames })
  }
}
