import { createTransferBar } from '../output/bars/transfer-bar.ts'
import type { GatewayClient, Message } from './gateway-client.ts'

interface UploadMessage extends Omit<Message, 'watchUpload'> {
  readonly body: string | FormData
}

const COUNTED_BYTES_MIN = 1024 * 1024

/** Sends a body that may be large, with a bar while it is on its way. */
export async function sendUpload(
  gateway: Pick<GatewayClient, 'send'>,
  path: string,
  message: UploadMessage,
  name = 'the request',
): Promise<Response> {
  const bytesTotal = sizeOf(message.body)
  // A small body is sent at once, so that an early refusal of the gateway cannot cut it.
  if (bytesTotal < COUNTED_BYTES_MIN) return gateway.send(path, message)
  const watchUpload = () => createTransferBar(process.stderr, { name, bytesTotal })
  return gateway.send(path, { ...message, watchUpload })
}

/** Of a form, its files: its other fields are short. */
function sizeOf(body: string | FormData): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return [...body.values()].reduce((sum, value) => sum + (typeof value === 'string' ? 0 : value.size), 0)
}
