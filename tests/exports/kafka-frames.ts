/** Reads the types of Kafka's protocol. */
export class FrameReader {
  readonly #buffer: Buffer
  #at = 0

  constructor(buffer: Buffer) {
    this.#buffer = buffer
  }

  bytes(length: number): Buffer {
    if (length > this.#buffer.length - this.#at) throw new Error('a frame ends too early')
    this.#at += length
    return this.#buffer.subarray(this.#at - length, this.#at)
  }

  rest(): Buffer {
    return this.#buffer.subarray(this.#at)
  }

  byte(): number {
    return this.bytes(1).readInt8()
  }

  int16(): number {
    return this.bytes(2).readInt16BE()
  }

  int32(): number {
    return this.bytes(4).readInt32BE()
  }

  int64(): bigint {
    return this.bytes(8).readBigInt64BE()
  }

  text(): string {
    const length = this.int16()
    return length === -1 ? '' : this.bytes(length).toString()
  }

  /** Zigzag-encoded. */
  varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes(1).readUInt8()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
  }

  array<Item>(read: () => Item): Item[] {
    const items: Item[] = []
    for (let left = this.int32(); left > 0; left -= 1) items.push(read())
    return items
  }
}

/** Writes them. */
export class FrameWriter {
  readonly #parts: Buffer[] = []

  frame(): Buffer {
    const content = Buffer.concat(this.#parts)
    const length = Buffer.alloc(4)
    length.writeInt32BE(content.length)
    return Buffer.concat([length, content])
  }

  byte(value: number): this {
    this.#parts.push(Buffer.from([value]))
    return this
  }

  int16(value: number): this {
    const bytes = Buffer.alloc(2)
    bytes.writeInt16BE(value)
    this.#parts.push(bytes)
    return this
  }

  int32(value: number): this {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    this.#parts.push(bytes)
    return this
  }

  int64(value: bigint): this {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(value)
    this.#parts.push(bytes)
    return this
  }

  text(value: string): this {
    const bytes = Buffer.from(value)
    this.int16(bytes.length)
    this.#parts.push(bytes)
    return this
  }

  array<Item>(items: readonly Item[], write: (item: Item) => void): this {
    this.int32(items.length)
    for (const item of items) write(item)
    return this
  }
}
