import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { S3Credentials } from '../s3-store.ts'

export interface S3Server {
  /** The URL as an operator would configure it. */
  readonly storeUrl: string
  readonly credentials: S3Credentials
  close(): Promise<void>
}

const BUCKET = 'media'

/** Starts a real S3 server on a free port. It verifies signatures. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-s3-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
  })
  const { port } = await server.run()
  const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`)
  return {
    storeUrl: `s3://${BUCKET}/parkway/files?endpoint=${endpoint}&region=eu-central-1`,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    close: async () => {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

interface S3rverOptions {
  readonly address: string
  readonly port: number
  readonly silent: boolean
  readonly directory: string
  readonly configureBuckets: readonly { readonly name: string }[]
}

interface RunningS3rver {
  run(): Promise<{ readonly port: number }>
  close(): Promise<void>
}

// The package has no types.
const require = createRequire(import.meta.url)
const S3rver: new (options: S3rverOptions) => RunningS3rver = require('s3rver')
