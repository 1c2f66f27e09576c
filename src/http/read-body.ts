import { AppError } from '../kernel/app-error.ts'
import type { Exchange } from './exchange.ts'

/** Reads a JSON body as text, up to its limit. One of the two callbacks is called, once. */
export function readBody(
  exchange: Exchange,
  bytesMax: number,
  onText: (text: string) => void,
  onError: (error: unknown) => void,
): void {
  const { incoming } = exchange
  const { 'content-type': contentType, 'content-length': length } = incoming.headers
  const isEmpty =
    length === '0' || (length === undefined && incoming.headers['transfer-encoding'] === undefined)
  if (!isEmpty && !isJson(contentType)) {
    onError(new AppError('unsupported_media_type', 'This route takes application/json.'))
    return
  }
  if (Number(length) > bytesMax) {
    onError(tooLarge())
    return
  }
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => {
    exchange.requestBytes += chunk.length
    if (exchange.requestBytes <= bytesMax) {
      chunks.push(chunk)
      return
    }
    incoming.removeAllListeners('data').removeAllListeners('end').pause()
    onError(tooLarge())
  })
  incoming.on('end', () => {
    const [first] = chunks
    onText(chunks.length === 1 && first !== undefined ? first.toString() : Buffer.concat(chunks).toString())
  })
}

function isJson(contentType: string | undefined): boolean {
  return contentType === 'application/json' || /^application\/json\s*(;|$)/i.test(contentType ?? '')
}

function tooLarge(): AppError {
  return new AppError('request_too_large', 'The request body is larger than this route allows.')
}
