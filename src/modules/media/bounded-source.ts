import { HEAD_BYTES } from '../../kernel/media/recognise-media.ts'

/** A source whose first bytes were read but which can still be read from the start. */
export interface OpenedSource {
  readonly head: Uint8Array
  /** All bytes from the start. Throws `SourceTooLarge` beyond the limit. */
  readonly all: AsyncIterable<Uint8Array>
  /** Closes a source that is not read. */
  close(): Promise<void>
}

export class SourceTooLarge extends Error {
  override readonly name = 'SourceTooLarge'
}

export async function openSource(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<OpenedSource> {
  const iterator = chunksOf(source)[Symbol.asyncIterator]()
  const close = async (): Promise<void> => {
    await iterator.return?.()
  }
  const beginning: Uint8Array[] = []
  let bytes = 0
  let isOver = false
  try {
    while (bytes < HEAD_BYTES && !isOver) {
      const next = await iterator.next()
      if (next.done === true) isOver = true
      else {
        beginning.push(next.value)
        bytes += next.value.byteLength
      }
    }
    if (bytes > bytesMax) throw new SourceTooLarge('the source is larger than its bound')
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
  const head = beginning.length === 1 && beginning[0] ? beginning[0] : Buffer.concat(beginning)
  return { head, all: readAll(head, isOver ? null : iterator, bytesMax), close }
}

async function* chunksOf(source: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  if (source instanceof Uint8Array) yield source
  else yield* source
}

async function* readAll(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array> | null,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void> {
  let bytes = head.byteLength
  try {
    yield head
    for (let next = await rest?.next(); next && next.done !== true; next = await rest?.next()) {
      bytes += next.value.byteLength
      if (bytes > bytesMax) throw new SourceTooLarge('the source is larger than its bound')
      yield next.value
    }
  } finally {
    await rest?.return?.()
  }
}
