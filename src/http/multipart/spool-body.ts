import type { IncomingMessage } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import type { Exchange } from '../exchange.ts'
import type { Form } from './form.ts'
import type { Spool } from './spool.ts'

/** The field of the only file of a form that is a whole body. */
const BODY_FIELD = 'body'

/** Writes a whole body to disk, so that a large one takes no memory while it is read. Deletes it if reading fails. */
export async function spoolBody(
  exchange: Exchange<IncomingMessage>,
  bytesMax: number,
  spool: Spool,
): Promise<Form> {
  const { incoming } = exchange
  if (Number(incoming.headers['content-length']) > bytesMax) throw tooLarge(bytesMax)
  const spooled = await spool.create()
  try {
    // The connection is still needed for the answer to a body that is refused.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      exchange.requestBytes += chunk.length
      if (exchange.requestBytes > bytesMax) throw tooLarge(bytesMax)
      await spooled.write(chunk)
    }
    if (!incoming.complete) throw new ClientDisconnected('the client disconnected while it sent its body')
  } catch (error) {
    await spooled.close().catch(() => {})
    await spool.remove([spooled.path])
    throw incoming.complete || error instanceof AppError
      ? error
      : new ClientDisconnected('the client disconnected while it sent its body')
  }
  const fingerprint = await spooled.close()
  const { path, bytes } = spooled
  const file = { field: BODY_FIELD, filename: '', contentType: 'application/json', path, bytes }
  return { fields: [], files: [file], fingerprint }
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('request_too_large', `The body is larger than ${bytesMax / 1024 / 1024} MB.`)
}
