import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const BUCKET_FAILURES = ['forbidden', 'busy', 'reset', 'hanging', 'no_bucket', 'stalled'] as const
type BucketFailure = (typeof BUCKET_FAILURES)[number]

/** A small S3 server that keeps its files in memory and fails on demand. */
export interface FailingBucket {
  /** The value of MEDIA_STORE_URL. */
  readonly storeUrl: string
  failure: BucketFailure | null
  readonly files: ReadonlyMap<string, Buffer>
  close(): Promise<void>
}

const ERRORS: Partial<Record<BucketFailure, readonly [status: number, code: string]>> = {
  forbidden: [403, 'AccessDenied'],
  busy: [503, 'SlowDown'],
  no_bucket: [404, 'NoSuchBucket'],
}

export async function startFailingBucket(): Promise<FailingBucket> {
  const files = new Map<string, Buffer>()
  const server = createServer((request, response) => void answer(request, response))
  const bucket = { storeUrl: '', failure: null as BucketFailure | null, files, close }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { failure } = bucket
    if (failure === 'reset') return void request.socket.destroy()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    if (failure === 'hanging') return
    const error = failure === null ? undefined : ERRORS[failure]
    if (error !== undefined) return sendError(response, ...error)
    const path = new URL(request.url ?? '', 'http://bucket').pathname
    if (request.method === 'PUT') {
      files.set(path, Buffer.concat(chunks))
      response.setHeader('etag', '"1"')
      return void response.end()
    }
    if (request.method === 'DELETE') {
      files.delete(path)
      response.statusCode = 204
      return void response.end()
    }
    const file = files.get(path)
    if (file === undefined) return sendError(response, 404, 'NoSuchKey')
    response.setHeader('content-length', file.length)
    if (failure === 'stalled') return void response.write(file.subarray(0, 1))
    response.end(file)
  }

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  bucket.storeUrl = `s3://files/media?endpoint=${encodeURIComponent(`http://127.0.0.1:${port}`)}&region=eu-central-1`
  return bucket
}

function sendError(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/xml')
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>played</Message></Error>`)
}
