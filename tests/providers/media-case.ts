import { falWire } from '../upstreams/media/fal-wire.ts'
import { googleMediaWire } from '../upstreams/media/google-media-wire.ts'
import type { VendorRequest, VendorWire } from '../upstreams/media/vendor-server.ts'

/** One operation of one vendor, with its work and the requests that the vendor must receive. */
export interface MediaCase {
  readonly name: string
  readonly member: 'image' | 'upscale' | 'backgroundRemoval' | 'video'
  readonly provider: string
  readonly wire: VendorWire
  readonly basePath: string
  readonly upstreamModel: string
  readonly work: unknown
  readonly submitRequest: string
  readonly submitBody: unknown
  /** True if the vendor starts a job; false if it answers with the result directly. */
  readonly isJob: boolean
  readonly cancelRequest?: string
  /** True if the vendor answers with raw bytes, so that no answer counts as malformed. */
  readonly acceptsAnything?: boolean
  readonly throttledBody: unknown
  /** `key` returns a key as the operator configures it; `readKey` reads it from a request. */
  readonly key: (number: number) => string
  readonly readKey: (request: VendorRequest | undefined) => unknown
}

export const byHeader = {
  key: (number: number) => `key-${number}`,
  readKey: (request: VendorRequest | undefined) => request?.headers.authorization,
}

export const byFal = {
  provider: 'fal',
  wire: falWire,
  basePath: '',
  isJob: true,
  throttledBody: { detail: 'Too many requests' },
  ...byHeader,
} as const

export const byGoogleKey = {
  provider: 'google',
  wire: googleMediaWire,
  basePath: '/v1beta',
  throttledBody: { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } },
  key: (number: number) => `key-${number}`,
  readKey: (request: VendorRequest | undefined) => request?.headers['x-goog-api-key'],
}
