import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { AppError } from '../../kernel/app-error.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import { decodeText } from '../bodies/decode-text.ts'
import type { Exchange } from '../exchange.ts'
import { requireStorable } from '../bodies/parse-body.ts'
import {
  FIELD_BYTES_MAX,
  formBytesMax,
  PARTS_MAX,
  type FileRule,
  type Form,
  type FormDescription,
  type FormField,
  type FormRoom,
  type UploadedFile,
} from './form.ts'
import type { Spool, SpooledFile } from './spool.ts'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const HEADER_BYTES_MAX = 8 * 1024
const HEADER_PAIRS_MAX = 16
const NAME_LENGTH_MAX = 256
/** After all bytes are read and all files are written, the parser must finish within this time. */
const FINISH_MS_MAX = 1_000

/** Reads a whole form and writes its files to disk. Deletes them if reading fails. */
export async function readForm(
  exchange: Exchange<IncomingMessage>,
  description: FormDescription,
  { spool, room }: { readonly spool: Spool; readonly room: FormRoom | null },
): Promise<Form> {
  const reading = new FormReading(description, spool)
  try {
    const parser = openParser(exchange, (...part) => reading.take(...part))
    await pump(exchange, parser, formBytesMax(description, room), reading)
    return await reading.finish()
  } catch (error) {
    await reading.abandon()
    throw error
  }
}

type PartListener = (
  name: string | undefined,
  stream: BusboyFileStream,
  filename: string | undefined,
  contentType: string,
) => void

// Fields are read as files too, because the parser would buffer an endless field before it reports it.
function openParser({ incoming }: Exchange, onPart: PartListener): BusboyInstance {
  const { 'content-type': contentType = '' } = incoming.headers
  try {
    const parser = new Busboy({
      headers: { ...incoming.headers, 'content-type': contentType },
      isPartAFile: () => true,
      limits: { headerPairs: HEADER_PAIRS_MAX, headerSize: HEADER_BYTES_MAX },
    })
    return parser.on('file', (name, stream, filename, _encoding, type) =>
      onPart(name, stream, filename, type),
    )
  } catch (error) {
    throw new AppError('invalid_request', 'The multipart body names no boundary in its content-type.', {
      cause: error,
    })
  }
}

/** Resolves when the parser has read everything; rejects at the first error and leaves the rest unread. */
function pump(
  exchange: Exchange<IncomingMessage>,
  parser: BusboyInstance,
  bytesMax: number,
  reading: FormReading,
): Promise<void> {
  const { incoming } = exchange
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const stop = (): void => {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
    }
    const fail = (error: unknown): void => {
      stop()
      incoming.pause()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      exchange.requestBytes += chunk.length
      triggerCollection(chunk.length)
      if (exchange.requestBytes > bytesMax) fail(formTooLarge(bytesMax))
      else if (!parser.write(chunk)) incoming.pause()
    }
    const onEnd = (): void => {
      timer = setTimeout(() => {
        if (reading.isWriting) timer?.refresh()
        else fail(brokenForm())
      }, FINISH_MS_MAX)
      parser.end()
    }
    const onClose = (): void => {
      if (!incoming.complete) fail(new ClientDisconnected('the client disconnected while it sent its form'))
    }
    parser.on('drain', () => incoming.resume())
    parser.on('error', (error) => fail(brokenForm(error)))
    parser.on('finish', () => {
      stop()
      resolve()
    })
    reading.onFailure(fail)
    if (Number(incoming.headers['content-length']) > bytesMax) fail(formTooLarge(bytesMax))
    else if (incoming.destroyed) onClose()
    else incoming.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

type PartRead =
  | { readonly field: FormField }
  | { readonly file: UploadedFile; readonly digest: string }
  | null

/** Reads the parts of one form while they arrive. */
class FormReading {
  readonly #description: FormDescription
  readonly #spool: Spool
  readonly #parts: Promise<PartRead>[] = []
  readonly #streams = new Set<BusboyFileStream>()
  readonly #paths: string[] = []
  readonly #counts = new Map<string, number>()
  #fail: (error: unknown) => void = () => {}

  constructor(description: FormDescription, spool: Spool) {
    this.#description = description
    this.#spool = spool
  }

  get isWriting(): boolean {
    return this.#streams.size > 0
  }

  onFailure(fail: (error: unknown) => void): void {
    this.#fail = fail
  }

  take(...[name, stream, filename, contentType]: Parameters<PartListener>): void {
    this.#streams.add(stream)
    // The parser emits an error on a part if the form ends early, even if the part is not being read.
    stream.on('error', () => {})
    const reading = this.#read(name, stream, filename, contentType).finally(() =>
      this.#streams.delete(stream),
    )
    reading.catch((error: unknown) => this.#fail(isOurs(error) ? error : brokenForm(error)))
    this.#parts.push(reading)
  }

  async finish(): Promise<Form> {
    const parts = (await Promise.all(this.#parts)).filter((part) => part !== null)
    return {
      fields: parts.flatMap((part) => ('field' in part ? [part.field] : [])),
      files: parts.flatMap((part) => ('file' in part ? [part.file] : [])),
      fingerprint: JSON.stringify(parts.map(fingerprintOf)),
    }
  }

  async abandon(): Promise<void> {
    for (const stream of this.#streams) stream.destroy()
    await Promise.allSettled(this.#parts)
    await this.#spool.remove(this.#paths)
  }

  async #read(...[name, stream, filename, contentType]: Parameters<PartListener>): Promise<PartRead> {
    if (this.#parts.length >= PARTS_MAX)
      throw new AppError('request_too_large', `The form has more than ${PARTS_MAX} parts.`)
    if (name === undefined || name.length > NAME_LENGTH_MAX) {
      throw new AppError('invalid_request', 'The form has a part without a name, or with an endless one.')
    }
    requireStorable('form', name)
    requireStorable(name, filename ?? '')
    if (filename === undefined && contentType !== 'application/octet-stream')
      return { field: { name, value: await readText(stream, name) } }
    const field = name.replace(/\[\]$/, '')
    const rule = Object.hasOwn(this.#description.files, field) ? this.#description.files[field] : undefined
    if (rule === undefined) return drain(stream)
    this.#count(field, rule)
    return this.#save(stream, { field, filename: filename ?? '', contentType }, rule)
  }

  #count(field: string, { countMax }: FileRule): void {
    const count = (this.#counts.get(field) ?? 0) + 1
    this.#counts.set(field, count)
    if (count <= countMax) return
    const message = `'${field}' takes ${countMax === 1 ? 'one file' : `at most ${countMax} files`}.`
    throw new AppError('invalid_value', message, { param: field })
  }

  async #save(
    stream: BusboyFileStream,
    file: Pick<UploadedFile, 'field' | 'filename' | 'contentType'>,
    { bytesMax }: FileRule,
  ): Promise<PartRead> {
    const spooled = await this.#spool.create()
    this.#paths.push(spooled.path)
    const digest = await copy(stream, spooled, () => {
      const message = `'${file.field}' is larger than ${formatMebibytes(bytesMax)}.`
      if (spooled.bytes > bytesMax) throw new AppError('request_too_large', message, { param: file.field })
    })
    return { file: { ...file, path: spooled.path, bytes: spooled.bytes }, digest }
  }
}

async function copy(stream: BusboyFileStream, spooled: SpooledFile, check: () => void): Promise<string> {
  try {
    for await (const chunk of stream) {
      await spooled.write(chunk)
      check()
    }
  } catch (error) {
    await spooled.close()
    throw error
  }
  return spooled.close()
}

async function readText(stream: BusboyFileStream, name: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > FIELD_BYTES_MAX) {
      const message = `The field '${name}' is larger than ${FIELD_BYTES_MAX / 1024} KB.`
      throw new AppError('request_too_large', message, { param: name })
    }
    chunks.push(chunk)
  }
  const text = decodeText(Buffer.concat(chunks))
  requireStorable(name, text)
  return text
}

async function drain(stream: BusboyFileStream): Promise<null> {
  for await (const _chunk of stream);
  return null
}

function fingerprintOf(part: NonNullable<PartRead>): readonly unknown[] {
  if ('field' in part) return [part.field.name, part.field.value]
  const { field, filename, contentType, bytes } = part.file
  return [field, filename, contentType, bytes, part.digest]
}

/** Disk errors are server errors; all others come from the parser. */
function isOurs(error: unknown): boolean {
  return error instanceof AppError || (error instanceof Error && 'syscall' in error)
}

function brokenForm(cause?: unknown): AppError {
  return new AppError('invalid_request', 'The multipart body is broken, or ends too early.', { cause })
}

function formTooLarge(bytesMax: number): AppError {
  return new AppError('request_too_large', `The form is larger than ${formatMebibytes(bytesMax)}.`)
}

function formatMebibytes(bytes: number): string {
  return `${Math.floor(bytes / (1024 * 1024))} MB`
}

/** Bytes that may be read and written between two collections. */
const BYTES_BETWEEN_MAX = 16 * 1024 * 1024

let bytesSince = 0
let collectYoung: ((options: { type: 'minor' }) => void) | null = null

/**
 * Frees the buffers of uploads. They are outside the heap, where V8 lets up to a hundred megabytes accumulate before it collects.
 * A collection of the young generation takes one or two milliseconds and frees nearly all of them.
 */
function triggerCollection(bytesRead: number): void {
  bytesSince += bytesRead
  if (bytesSince < BYTES_BETWEEN_MAX) return
  bytesSince = 0
  collectYoung ??= exposeCollection()
  collectYoung({ type: 'minor' })
}

function exposeCollection(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  return typeof collect === 'function' ? (options) => void collect(options) : () => {}
}
