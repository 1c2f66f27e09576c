import type { IncomingMessage } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'
import type { BodiesInWork } from './bodies-in-work.ts'
import { decodeText } from './decode-text.ts'
import type { Exchange } from '../exchange.ts'
import { requirePlainBody } from './require-plain-body.ts'
import { scimWire } from '../../wires/scim/scim-wire.ts'

interface ReadBodyOptions {
  readonly bytesMax: number
  readonly bodiesInWork: BodiesInWork
}

/** Bodies of unknown length are counted in steps. */
const STEP_BYTES = 1024 * 1024

/**
 * Reads a JSON body as text, up to its limit. Throws, or calls one of the two callbacks, once.
 *
 * @param source the message from which the body is read, or the body if it has been read already
 */
export function readBody(
  exchange: Exchange,
  source: IncomingMessage | Buffer,
  { bytesMax, bodiesInWork }: ReadBodyOptions,
  onText: (text: string) => void,
  onError: (error: unknown) => void,
): void {
  const { headers } = exchange.incoming
  const { 'content-type': contentType, 'content-length': length } = headers
  const isEmpty = length === '0' || (length === undefined && headers['transfer-encoding'] === undefined)
  if (!isEmpty && !isJson(contentType) && !(exchange.wire === scimWire && isScim(contentType)))
    throw new AppError('unsupported_media_type', 'This route takes application/json.')
  if (!isEmpty) requirePlainBody(headers)
  if (Number(length) > bytesMax) throw tooLarge()
  if (Buffer.isBuffer(source)) {
    exchange.requestBytes = source.length
    bodiesInWork.countRead(exchange, source.length)
    onText(decodeText(source))
    return
  }
  let countedBytes = Number(length ?? 0)
  bodiesInWork.countRead(exchange, countedBytes)
  const chunks: Buffer[] = []
  const takeChunk = (chunk: Buffer): void => {
    exchange.requestBytes += chunk.length
    if (exchange.requestBytes > bytesMax) throw tooLarge()
    if (exchange.requestBytes > countedBytes) {
      bodiesInWork.countRead(exchange, STEP_BYTES)
      countedBytes += STEP_BYTES
    }
    chunks.push(chunk)
  }
  source.on('data', (chunk: Buffer) => {
    try {
      takeChunk(chunk)
    } catch (error) {
      source.removeAllListeners('data').removeAllListeners('end').pause()
      onError(error)
    }
  })
  source.on('end', () => {
    const [first] = chunks
    let text: string
    try {
      text = decodeText(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks))
    } catch (error) {
      onError(error)
      return
    }
    onText(text)
  })
}

function isJson(contentType: string | undefined): boolean {
  return contentType === 'application/json' || /^application\/json\s*(;|$)/i.test(contentType ?? '')
}

function isScim(contentType: string | undefined): boolean {
  return /^application\/scim\+json\s*(;|$)/i.test(contentType ?? '')
}

function tooLarge(): AppError {
  return new AppError('request_too_large', 'The request body is larger than this route allows.')
}
