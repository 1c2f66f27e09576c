import type { Cancellation } from '../kernel/cancellation.ts'
import type { Outbound } from '../outbound/outbound.ts'

export interface ConfirmedPost {
  readonly outbound: Pick<Outbound, 'fetch'>
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly cancellation: Cancellation
}

const ANSWER_MS_MAX = 30_000
/** More is not read, whatever the receiver sends. */
const ANSWER_BYTES_MAX = 64 * 1024

/** Posts to an address of the operator, which may be private. Returns the text of the answer. Throws unless its status is 2xx. */
export async function postConfirmed({ outbound, url, ...sent }: ConfirmedPost): Promise<string> {
  const { headers, body, cancellation } = sent
  const answer = await outbound.fetch({
    url,
    method: 'POST',
    headers,
    body,
    bytesMax: ANSWER_BYTES_MAX,
    timeoutMs: ANSWER_MS_MAX,
    trustedHosts: [new URL(url).host, new URL(url).hostname],
    cancellation,
  })
  if (answer.status < 200 || answer.status > 299) {
    answer.discard()
    throw new Error(`the receiver answered with status ${answer.status}`)
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
