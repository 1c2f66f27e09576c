import { open, type FileHandle } from 'node:fs/promises'

const WINDOW_BYTES = 256 * 1024

/** Reads a file at arbitrary positions through one buffer, so that scanning it takes little memory and few reads. */
export class FileWindow {
  readonly bytes: number
  readonly #file: FileHandle
  readonly #buffer = Buffer.allocUnsafe(WINDOW_BYTES)
  #start = 0
  #length = 0

  private constructor(file: FileHandle, bytes: number) {
    this.#file = file
    this.bytes = bytes
  }

  static async use<Result>(path: string, work: (window: FileWindow) => Promise<Result>): Promise<Result> {
    const file = await open(path)
    try {
      const { size } = await file.stat()
      return await work(new FileWindow(file, size))
    } finally {
      await file.close()
    }
  }

  /**
   * Returns bytes that are valid until the next call, fewer at the end of the file. Returns a promise only if the buffer must be
   * refilled.
   */
  look(position: number, length: number): Buffer | Promise<Buffer> {
    const isInside = position >= this.#start && position + length <= this.#start + this.#length
    return isInside ? this.#view(position, length) : this.#move(position, length)
  }

  async #move(position: number, length: number): Promise<Buffer> {
    const { bytesRead } = await this.#file.read(this.#buffer, 0, WINDOW_BYTES, position)
    this.#start = position
    this.#length = bytesRead
    return this.#view(position, length)
  }

  #view(position: number, length: number): Buffer {
    const from = position - this.#start
    return this.#buffer.subarray(from, Math.min(from + length, this.#length))
  }
}
