import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { DatabaseError } from 'pg'
import { extract, type Extract } from 'tar-stream'
import { Type, type Static } from 'typebox'
import { Check } from 'typebox/value'
import { messageOf, StorageError } from '../storage-error.ts'

export const FORMAT_VERSION = 1
export const MANIFEST_NAME = 'manifest.json'

const MANIFEST_BYTES_MAX = 16 * 1024 * 1024

/** The first entry of an archive: describes the other entries, with checksums to verify that they are complete. */
export const Manifest = Type.Object({
  formatVersion: Type.Literal(FORMAT_VERSION),
  createdAt: Type.String(),
  migrations: Type.Array(
    Type.Object({ version: Type.Integer(), name: Type.String(), checksum: Type.String() }),
  ),
  /** Ordered so that each table follows the tables it references. */
  tables: Type.Array(
    Type.Object({
      name: Type.String(),
      entry: Type.String(),
      columns: Type.Array(Type.String()),
      rows: Type.Integer({ minimum: 0 }),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String(),
    }),
  ),
  sequences: Type.Array(
    Type.Object({ name: Type.String(), lastValue: Type.String(), isCalled: Type.Boolean() }),
  ),
})
export type Manifest = Static<typeof Manifest>
export type ArchivedTable = Manifest['tables'][number]

/** Receives the rows of one table while they are read. Must read them to the end. */
export type TableReader = (table: ArchivedTable, rows: AsyncIterable<Buffer>) => Promise<void>

/** Reads the whole archive once, verifies each entry against the manifest, and passes each table to the reader. */
export async function readArchive(file: string, readTable: TableReader): Promise<Manifest> {
  const entries = extract()
  const reading = pipeline(createReadStream(file), createGunzip(), entries)
  try {
    const [manifest] = await Promise.all([readEntries(file, entries, readTable), reading])
    return manifest
  } catch (error) {
    entries.destroy()
    await reading.catch(() => {})
    if (error instanceof ReaderFailure) throw error.reason
    throw error instanceof StorageError ? error : damaged(file, messageOf(error), error)
  }
}

/** An error of the table reader, which does not mean that the archive is damaged. */
class ReaderFailure extends Error {
  readonly reason: Error

  constructor(reason: Error) {
    super(reason.message)
    this.reason = reason
  }
}

async function readEntries(file: string, entries: Extract, readTable: TableReader): Promise<Manifest> {
  let manifest: Manifest | null = null
  let position = 0
  for await (const entry of entries) {
    if (manifest === null) {
      manifest = await readManifest(file, entry)
      continue
    }
    const table: ArchivedTable | undefined = manifest.tables[position]
    position += 1
    if (table === undefined || entry.header.name !== table.entry) {
      throw damaged(file, `it holds ${entry.header.name}, which its manifest does not name here`)
    }
    await readTable(table, verifyRows(file, table, entry)).catch((error: unknown) => {
      throw error instanceof DatabaseError ? new ReaderFailure(error) : error
    })
  }
  if (manifest === null || position !== manifest.tables.length) throw damaged(file, 'entries are missing')
  return manifest
}

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never

async function readManifest(file: string, entry: Entry): Promise<Manifest> {
  if (entry.header.name !== MANIFEST_NAME || entry.header.size > MANIFEST_BYTES_MAX) {
    throw damaged(file, 'it does not begin with a manifest')
  }
  const chunks: Buffer[] = []
  for await (const chunk of readBytes(entry)) chunks.push(chunk)
  const manifest: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  if (!Check(Manifest, manifest)) throw damaged(file, 'its manifest is not of a format this release knows')
  return manifest
}

async function* verifyRows(file: string, table: ArchivedTable, entry: Entry): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of readBytes(entry)) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== table.sha256) throw damaged(file, `${table.entry} differs from its checksum`)
}

// The library does not declare what its streams yield.
async function* readBytes(entry: Entry): AsyncGenerator<Buffer> {
  for await (const chunk of entry) if (Buffer.isBuffer(chunk)) yield chunk
}

function damaged(file: string, why: string, cause?: unknown): StorageError {
  return new StorageError('bad_archive', `${file} is not a whole backup: ${why}. Nothing was changed.`, {
    cause,
  })
}
