import type { IncomingMessage } from 'node:http'
import { AppError } from '../kernel/app-error.ts'
import type { Exchange } from './exchange.ts'

/**
 * Reads a JSON body as text, up to its limit. One of the two callbacks is called, once.
 *
 * @param source what it is read from, or the body itself where it came with the request
 */
export function readBody(
  exchange: Exchange,
  source: IncomingMessage | string,
  bytesMax: number,
  onText: (text: string) => void,
  onError: (error: unknown) => void,
): void {
  const { headers } = exchange.incoming
  const { 'content-type': contentType, 'content-length': length } = headers
  const isEmpty = length === '0' || (length === undefined && headers['transfer-encoding'] === undefined)
  if (!isEmpty && !isJson(contentType)) {
    onError(new AppError('unsupported_media_type', 'This route takes application/json.'))
    return
  }
  if (Number(length) > bytesMax) {
    onError(tooLarge())
    return
  }
  if (typeof source === 'string') {
    exchange.requestBytes = Number(length)
    onText(source)
    return
  }
  const chunks: Buffer[] = []
  source.on('data', (chunk: Buffer) => {
    exchange.requestBytes += chunk.length
    if (exchange.requestBytes <= bytesMax) {
      chunks.push(chunk)
      return
    }
    source.removeAllListeners('data').removeAllListeners('end').pause()
    onError(tooLarge())
  })
  source.on('end', () => {
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
