import { falWire } from '../upstreams/media/fal-wire.ts'
import { googleMediaWire } from '../upstreams/media/google-media-wire.ts'
import type { VendorRequest, VendorWire } from '../upstreams/media/vendor-server.ts'

/** One operation of one vendor, what is asked of it, and what the vendor must hear. */
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
  /** Whether the work goes on by a job; done at once otherwise. */
  readonly isJob: boolean
  readonly cancelRequest?: string
  /** Answers with bytes, whatever they are, so that nothing is garbage. */
  readonly acceptsAnything?: boolean
  readonly throttledBody: unknown
  /** A key as the operator gives it, and what a request shows of it. */
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
