import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { createS3Store, type S3Credentials } from '../../storage/media-store/s3-store.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import { ALL_TAKEN, type ExportedItem, type ExportSink } from '../export-sink.ts'
import { writeRequestParquet } from './request-parquet.ts'

interface S3SinkOptions {
  readonly url: string
  readonly credentials: S3Credentials | null
  readonly format: 'jsonl' | 'parquet'
  readonly collectMs: number
}

const REQUESTS_MAX = 10_000
const BYTES_MAX = 16 * 1024 * 1024
const HOUR_MS = 3_600_000
const NUMBER_DIGITS = 19

/**
 * Writes files of requests into a bucket, by the hour in which they were recorded. A file has the number of the first request of its batch
 * in its name, so that a batch which is sent again replaces it.
 */
export function createS3Sink({ url, credentials, format, collectMs }: S3SinkOptions): ExportSink {
  const store = createS3Store({ url, credentials, pathOf: requireName })
  return {
    requestsMax: REQUESTS_MAX,
    bytesMax: BYTES_MAX,
    collectMs,
    deliver: async ({ firstNumber, items }, cancellation) => {
      for (const [hourMs, ofHour] of groupByHour(items)) {
        cancellation.throwIfCancelled()
        await write(
          store,
          `${nameOf(hourMs, firstNumber)}.${format === 'parquet' ? 'parquet' : 'jsonl.gz'}`,
          ofHour,
        )
      }
      return ALL_TAKEN
    },
    close: () => store.close(),
  }
}

async function write(store: MediaStore, name: string, items: readonly ExportedItem[]): Promise<void> {
  if (name.endsWith('.parquet')) {
    await store.put(name, writeRequestParquet(items), 'application/vnd.apache.parquet')
    return
  }
  const bytes = await promisify(gzip)(items.map(({ line }) => `${line}\n`).join(''))
  await store.put(name, once(bytes), 'application/gzip')
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes
}

/** In the order of their numbers, whatever the clock did. */
function groupByHour(items: readonly ExportedItem[]): Map<number, ExportedItem[]> {
  const hours = new Map<number, ExportedItem[]>()
  let hourMs = 0
  for (const item of items) {
    hourMs = Math.max(hourMs, Math.floor(item.queuedAtMs / HOUR_MS) * HOUR_MS)
    const ofHour = hours.get(hourMs) ?? []
    ofHour.push(item)
    hours.set(hourMs, ofHour)
  }
  return hours
}

/** Readers take such folders for columns `date` and `hour`. */
function nameOf(hourMs: number, firstNumber: bigint): string {
  const time = new Date(hourMs).toISOString()
  const part = String(firstNumber).padStart(NUMBER_DIGITS, '0')
  return `requests/date=${time.slice(0, 10)}/hour=${time.slice(11, 13)}/part-${part}`
}

const NAME_FORM = /^requests\/date=\d{4}-\d{2}-\d{2}\/hour=\d{2}\/part-\d{19}\.(?:jsonl\.gz|parquet)$/

function requireName(name: string): string {
  if (!NAME_FORM.test(name)) throw new Error('not a name of a file of an export')
  return name
}
