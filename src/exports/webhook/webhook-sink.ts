import { Webhook } from 'standardwebhooks'
import type { Outbound } from '../../outbound/outbound.ts'
import { ALL_TAKEN, type ExportSink } from '../export-sink.ts'
import { postConfirmed } from '../post-confirmed.ts'

interface WebhookSinkOptions {
  readonly outbound: Pick<Outbound, 'fetch'>
  readonly name: string
  readonly url: string
  readonly secret: string
}

const REQUESTS_MAX = 500
const BYTES_MAX = 1024 * 1024

/** Posts requests to an address, signed like all webhooks of the gateway. Any status of 2xx confirms them. */
export function createWebhookSink({ outbound, name, url, secret }: WebhookSinkOptions): ExportSink {
  const signer = new Webhook(secret)
  return {
    requestsMax: REQUESTS_MAX,
    bytesMax: BYTES_MAX,
    collectMs: 0,
    deliver: async ({ firstNumber, items }, cancellation) => {
      // Receivers may leave out an id that they have had: a longer batch that begins with the same request is another one.
      const id = `export_${name}_${firstNumber}_${items.at(-1)?.request.number ?? firstNumber}`
      const at = new Date()
      const body = `{"type":"requests.exported","timestamp":"${at.toISOString()}","data":[${items.map(({ line }) => line).join(',')}]}`
      await postConfirmed({
        outbound,
        url,
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': signer.sign(id, at, body),
          'user-agent': 'Parkway-Webhooks/1',
        },
        body,
        cancellation,
      })
      return ALL_TAKEN
    },
    close: async () => {},
  }
}
