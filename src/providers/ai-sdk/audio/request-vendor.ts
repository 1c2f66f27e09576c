import { readErrorObject } from '../../failures/error-payload.ts'
import { parseRetryAfter } from '../../failures/parse-retry-after.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import { parseJson } from '../exchange/read-json.ts'
import type { UpstreamExchange } from '../exchange/upstream-exchange.ts'

interface VendorRequest {
  readonly provider: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent by POST. Without a body, the request is a GET. */
  readonly body?: unknown
}

/** Sends a request that the vendor's package has no call for. */
export async function requestVendor(
  exchange: UpstreamExchange,
  { provider, url, headers, body }: VendorRequest,
): Promise<Response> {
  const response = await exchange.fetch(
    url,
    body === undefined
      ? { method: 'GET', headers }
      : {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        },
  )
  if (response.ok) return response
  const retryAfterSeconds = parseRetryAfter(response.headers.get('retry-after') ?? undefined)
  throw new UpstreamError(`${provider} answered ${response.status}`, {
    failure: 'status',
    provider,
    status: response.status,
    ...readErrorObject(parseJson(await response.text())),
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  })
}
