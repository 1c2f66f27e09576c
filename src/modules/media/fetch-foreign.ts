import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { CONTENT_HEAD_BYTES, recogniseContent } from '../../kernel/media/recognise-content.ts'
import { isPrivateHost, OutboundFailed, OutboundRefused, type Outbound } from '../../outbound/outbound.ts'

export interface ForeignOrder {
  readonly url: string
  readonly param: string
  readonly bytesMax: number
  readonly cancellation?: Cancellation | undefined
}

export interface ForeignFile {
  readonly contentType: string
  readonly bytes: Buffer
}

/** A client waits for it. */
const TIMEOUT_MS = 30_000
const REDIRECTS_MAX = 5

/** Fetches a file from an address of another server, so that an upstream in the operator's network does not fetch it. */
export async function fetchForeign(outbound: Outbound, order: ForeignOrder): Promise<ForeignFile> {
  const { url, param, bytesMax, cancellation } = order
  try {
    const answer = await outbound.fetch({
      url,
      bytesMax,
      timeoutMs: TIMEOUT_MS,
      redirectsMax: REDIRECTS_MAX,
      ...(cancellation && { cancellation }),
    })
    if (answer.status < 200 || answer.status > 299) {
      answer.discard()
      throw unfetched(param, `its address answers ${answer.status}.`)
    }
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    return { bytes, contentType: typeOf(bytes, answer.contentType) }
  } catch (error) {
    cancellation?.throwIfCancelled()
    if (error instanceof OutboundRefused || (error instanceof OutboundFailed && error.reason !== 'closed'))
      throw unfetched(param, error.message, error)
    throw error
  }
}

/** Refuses addresses that no vendor can reach, and that a server in the operator's network could. */
export function refusePrivateAddress(url: string, param: string): void {
  if (!URL.canParse(url)) throw invalidValue(param, `'${param}' is not a URL.`)
  if (isPrivateHost(new URL(url).hostname))
    throw unfetched(param, 'The address does not lead to a public host.')
}

function unfetched(param: string, why: string, cause?: unknown): AppError {
  return new AppError('invalid_value', `'${param}' could not be fetched: ${why}`, { param, cause })
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+/

function typeOf(bytes: Buffer, declared: string | null): string {
  const recognised = recogniseContent(bytes.subarray(0, CONTENT_HEAD_BYTES))
  if (recognised !== null) return recognised.mediaType
  return MEDIA_TYPE.exec(declared ?? '')?.[0].toLowerCase() ?? 'application/octet-stream'
}
