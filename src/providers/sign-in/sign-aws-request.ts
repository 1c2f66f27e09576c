import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { SignableRequest } from './sign-in.ts'

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

interface SigningContext {
  readonly service: string
  readonly credentials: AwsCredentials
  readonly region: string
  readonly nowMs: number
}

/** Returns the headers that sign the method, the host, the path and the body, and those of the request. */
export async function signAwsRequest(
  {
    method,
    origin,
    path,
    body,
    headers = {},
  }: SignableRequest & { readonly headers?: Record<string, string> },
  { service, credentials, region, nowMs }: SigningContext,
): Promise<readonly string[]> {
  const { protocol, host, hostname } = new URL(origin)
  const [pathname = '', search = ''] = path.split('?', 2)
  const query = Object.fromEntries(new URLSearchParams(search))
  const signer = new SignatureV4({ credentials, region, service, sha256: Sha256 })
  const signed = await signer.sign(
    { method, protocol, hostname, path: pathname, query, headers: { ...headers, host }, body },
    { signingDate: new Date(nowMs) },
  )
  // The client itself writes the host.
  return Object.entries(signed.headers).flatMap(([name, value]) => (name === 'host' ? [] : [name, value]))
}

/** SHA-256 and its HMAC, in the form that the signer asks for. */
class Sha256 {
  #hash: Hash | Hmac
  readonly #secret: Bytes | undefined

  constructor(secret?: Bytes) {
    this.#secret = secret
    this.#hash = this.#create()
  }

  update(bytes: Bytes): void {
    this.#hash.update(toBuffer(bytes))
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest())
  }

  reset(): void {
    this.#hash = this.#create()
  }

  #create(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', toBuffer(this.#secret))
  }
}

type Bytes = string | ArrayBuffer | ArrayBufferView

function toBuffer(bytes: Bytes): Buffer {
  if (typeof bytes === 'string') return Buffer.from(bytes)
  return ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(bytes)
}
