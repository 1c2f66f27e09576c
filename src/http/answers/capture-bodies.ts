import type { ResponseMessage } from '../message.ts'
import { toBuffer } from './replay-recording.ts'

/** The bodies of an exchange, up to a number of bytes each, for keys whose bodies are stored. */
export class BodyCapture {
  readonly #bytesMax: number
  #request = ''
  requestBytes = 0
  readonly answer: Buffer[] = []
  answerBytes = 0

  constructor(response: ResponseMessage, bytesMax: number) {
    this.#bytesMax = bytesMax
    const write = response.write.bind(response)
    const end = response.end.bind(response)
    const noteWrite: ResponseMessage['write'] = (...values: unknown[]) => {
      this.#note(values[0], values[1])
      return Reflect.apply(write, response, values)
    }
    const noteEnd: ResponseMessage['end'] = (...values: unknown[]) => {
      this.#note(values[0], values[1])
      return Reflect.apply(end, response, values)
    }
    response.write = noteWrite
    response.end = noteEnd
  }

  get request(): string {
    return this.#request
  }

  noteRequest(text: string, bytes: number): void {
    // A copy of the beginning, because a part of a text keeps all of it in memory.
    this.#request =
      bytes <= this.#bytesMax ? text : Buffer.from(text.slice(0, this.#bytesMax)).toString('utf8')
    this.requestBytes = bytes
  }

  #note(content: unknown, encoding: unknown): void {
    const piece = toBuffer(content, encoding)
    if (piece === null) return
    const room = this.#bytesMax - this.answerBytes
    this.answerBytes += piece.length
    // Copied, because pieces are parts of larger buffers that are used again.
    if (room > 0) this.answer.push(Buffer.from(piece.subarray(0, room)))
  }
}
