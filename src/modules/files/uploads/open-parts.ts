import { Readable } from 'node:stream'
import type { Queryable } from '../../../storage/database.ts'
import type { ByteRange, MediaStore } from '../../../storage/media-store/media-store.ts'

/** A part of a file, as it lies in the store. */
export interface PartInStore {
  readonly id: string
  readonly bytes: number
}

export async function readPartsOfFile(queryable: Queryable, fileId: string): Promise<PartInStore[]> {
  const rows = await queryable.query<{ id: string; bytes: bigint }>(
    'SELECT id, bytes FROM upload_parts WHERE file_id = $1 AND removing_at IS NULL ORDER BY position',
    [fileId],
  )
  return rows.map(({ id, bytes }) => ({ id, bytes: Number(bytes) }))
}

/** Reads the parts one after the other, as one file. Returns null if the first is not there. */
export async function openParts(
  store: Pick<MediaStore, 'open'>,
  parts: readonly PartInStore[],
  range?: ByteRange,
): Promise<Readable | null> {
  const [first, ...others] = cutParts(parts, range ?? { start: 0, end: Infinity })
  if (first === undefined) return null
  const opened = await store.open(first.id, first.range)
  if (opened === null) return null
  const joined = Readable.from(joinParts(store, opened, others), { objectMode: false })
  // Whoever destroys it before reading anything starts no generator that would close the part.
  return joined.once('close', () => opened.destroy())
}

async function* joinParts(
  store: Pick<MediaStore, 'open'>,
  first: Readable,
  others: readonly CutPart[],
): AsyncGenerator<Uint8Array, void> {
  yield* chunksOf(first)
  for (const { id, range } of others) {
    const opened = await store.open(id, range)
    if (opened === null) throw new Error('a part of a file is not in the store')
    yield* chunksOf(opened)
  }
}

async function* chunksOf(stream: Readable): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of stream as AsyncIterable<Uint8Array>) yield chunk
}

interface CutPart {
  readonly id: string
  readonly range: ByteRange
}

/** What of each part lies in the range. Parts outside of it are left out. */
function cutParts(parts: readonly PartInStore[], { start, end }: ByteRange): CutPart[] {
  const cut: CutPart[] = []
  let before = 0
  for (const { id, bytes } of parts) {
    const range = { start: Math.max(start - before, 0), end: Math.min(end - before, bytes - 1) }
    if (range.start <= range.end) cut.push({ id, range })
    before += bytes
  }
  return cut
}
