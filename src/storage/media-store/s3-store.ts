import { Readable } from 'node:stream'
import type * as S3 from '@aws-sdk/client-s3'
import { requireStoreKey, type MediaStore } from './media-store.ts'
import { endWhenStalled, within } from './store-time-limits.ts'

export interface S3StoreOptions {
  /** `s3://bucket/prefix?endpoint=…&region=…`. Without an endpoint, Amazon S3 is used. */
  readonly url: string
  /** Used if the URL has none. */
  readonly region?: string | null
  /** If null, the credentials of the machine's role are used. */
  readonly credentials: S3Credentials | null
}

interface S3StoreNames {
  /** The path of a key below the prefix. Throws for what is no key. */
  readonly pathOf?: (key: string) => string
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Larger files are uploaded in parts of this size. Each part is held in memory. */
const PART_BYTES = 8 * 1024 * 1024
const CONNECT_MS_MAX = 5_000
/** The limit of a request with all of its attempts, up to the head of its answer. */
const REQUEST_MS_MAX = 10_000
/** The limit for a part of `PART_BYTES`, which takes longer. */
const UPLOAD_MS_MAX = 60_000
/** A file of which nothing more arrives for this long is given up. */
const STALL_MS_MAX = 15_000
const ATTEMPTS_MAX = 3
/** A key that no file has. A store that works says that it is missing. */
const PROBE_KEY = '00000000-0000-0000-0000-000000000000'
const DEFAULT_REGION = 'us-east-1'

/** Stores files in a bucket of any S3-compatible server. The client library is large, so it is loaded on first use. */
export function createS3Store({
  pathOf = requireStoreKey,
  ...options
}: S3StoreOptions & S3StoreNames): MediaStore {
  const { bucket, prefix } = parseS3Url(options.url)
  let opening: Promise<{ s3: typeof S3; client: S3.S3Client }> | null = null
  const opened = (): Promise<{ s3: typeof S3; client: S3.S3Client }> => (opening ??= openClient(options))
  const placeOf = (key: string) => ({ Bucket: bucket, Key: prefix + pathOf(key) })

  return {
    async put(key, source, contentType) {
      const { s3, client } = await opened()
      const target = { ...placeOf(key), ContentType: contentType }
      const parts = splitParts(source, PART_BYTES)
      const first = (await parts.next()).value ?? new Uint8Array()
      if (first.byteLength === PART_BYTES) return uploadParts(s3, client, target, first, parts)
      const command = new s3.PutObjectCommand({ ...target, Body: first })
      await within(UPLOAD_MS_MAX, (abortSignal) => client.send(command, { abortSignal }))
      return { bytes: first.byteLength }
    },

    async open(key, range) {
      const { s3, client } = await opened()
      const bytes = range ? { Range: `bytes=${range.start}-${range.end}` } : {}
      try {
        const command = new s3.GetObjectCommand({ ...placeOf(key), ...bytes })
        const { Body } = await within(REQUEST_MS_MAX, (abortSignal) => client.send(command, { abortSignal }))
        if (Body instanceof Readable) return endWhenStalled(Body, STALL_MS_MAX)
        throw new Error('the S3 server answered without a body')
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },

    async exists(key) {
      const { s3, client } = await opened()
      try {
        const command = new s3.HeadObjectCommand(placeOf(key))
        await within(REQUEST_MS_MAX, (abortSignal) => client.send(command, { abortSignal }))
        return true
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
    },

    async delete(key) {
      const { s3, client } = await opened()
      const command = new s3.DeleteObjectCommand(placeOf(key))
      await within(REQUEST_MS_MAX, (abortSignal) => client.send(command, { abortSignal })).catch(
        (error: unknown) => {
          if (!isMissing(error)) throw error
        },
      )
    },
    async check() {
      const { s3, client } = await opened()
      const command = new s3.GetObjectCommand({ ...placeOf(PROBE_KEY), Range: 'bytes=0-0' })
      try {
        const { Body } = await within(REQUEST_MS_MAX, (abortSignal) => client.send(command, { abortSignal }))
        if (Body instanceof Readable) Body.destroy()
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    },

    // Parts of an interrupted upload are not visible. A lifecycle rule of the bucket removes them.
    removeUnfinished: async () => {},

    async close() {
      const { client } = (await opening?.catch(() => null)) ?? {}
      client?.destroy()
    },
  }
}

/** Throws a `RangeError` if the URL is invalid. */
export function parseS3Url(text: string): {
  bucket: string
  prefix: string
  endpoint: string | null
  region: string | null
} {
  const url = URL.canParse(text) ? new URL(text) : null
  const endpoint = url?.searchParams.get('endpoint') ?? null
  const isUsable =
    url?.protocol === 's3:' &&
    url.hostname !== '' &&
    url.username === '' &&
    url.password === '' &&
    (endpoint === null || /^https?:\/\//.test(endpoint)) &&
    (endpoint === null || URL.canParse(endpoint))
  if (!isUsable)
    throw new RangeError('s3://bucket/prefix, with ?endpoint=https://… and &region=… where needed')
  const path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  return {
    bucket: url.hostname,
    prefix: path === '' ? '' : `${path}/`,
    endpoint,
    region: url.searchParams.get('region'),
  }
}

async function openClient({
  url,
  region: usualRegion,
  credentials,
}: S3StoreOptions): Promise<{ s3: typeof S3; client: S3.S3Client }> {
  const { endpoint, region } = parseS3Url(url)
  const s3 = await import('@aws-sdk/client-s3')
  const client = new s3.S3Client({
    region: region ?? usualRegion ?? DEFAULT_REGION,
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: { connectionTimeout: CONNECT_MS_MAX },
    // Only Amazon supports checksums in trailers. Other servers store them as part of the file.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === null ? {} : { credentials }),
  })
  return { s3, client }
}

/** Uploads the parts one by one, to keep only one in memory. */
async function uploadParts(
  s3: typeof S3,
  client: S3.S3Client,
  target: { Bucket: string; Key: string; ContentType: string },
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): Promise<{ bytes: number }> {
  const { Bucket, Key } = target
  const create = new s3.CreateMultipartUploadCommand(target)
  const { UploadId } = await within(REQUEST_MS_MAX, (abortSignal) => client.send(create, { abortSignal }))
  const sent: { PartNumber: number; ETag: string | undefined }[] = []
  let bytes = 0
  const send = async (part: Uint8Array): Promise<void> => {
    const PartNumber = sent.length + 1
    const command = new s3.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body: part })
    const { ETag } = await within(UPLOAD_MS_MAX, (abortSignal) => client.send(command, { abortSignal }))
    sent.push({ PartNumber, ETag })
    bytes += part.byteLength
  }
  try {
    await send(first)
    for await (const part of rest) await send(part)
    const complete = new s3.CompleteMultipartUploadCommand({
      Bucket,
      Key,
      UploadId,
      MultipartUpload: { Parts: sent },
    })
    await within(UPLOAD_MS_MAX, (abortSignal) => client.send(complete, { abortSignal }))
    return { bytes }
  } catch (error) {
    const abort = new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId })
    await within(REQUEST_MS_MAX, (abortSignal) => client.send(abort, { abortSignal })).catch(() => {})
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound')
}

/** Splits the source into parts of equal size. The last one may be smaller. */
async function* splitParts(
  source: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let part = new Uint8Array(0)
  let filled = 0
  for await (const chunk of source) {
    for (let offset = 0; offset < chunk.byteLength;) {
      if (filled === part.byteLength) part = grow(part, filled + chunk.byteLength - offset, partBytes)
      const taken = Math.min(part.byteLength - filled, chunk.byteLength - offset)
      part.set(chunk.subarray(offset, offset + taken), filled)
      filled += taken
      offset += taken
      if (filled < partBytes) continue
      yield part
      part = new Uint8Array(0)
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

// Grows by doubling, because most files are much smaller than a part.
function grow(part: Uint8Array, neededBytes: number, partBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(partBytes, Math.max(neededBytes, part.byteLength * 2)))
  larger.set(part)
  return larger
}
