import { BodyRefused } from './body-refused.ts'

interface FormPin {
  readonly boundary: string
  readonly model: string
  /** Whether a form that names no model gets one. */
  readonly isAdded: boolean
}

/** More than the gateway reads. */
const HEADER_BYTES_MAX = 16 * 1024
const LINE_END = '\r\n'
const HEADER_END = '\r\n\r\n'
const NONE = Buffer.alloc(0)

/** Returns the boundary of a multipart form, or null for another type. */
export function boundaryOf(contentType: string): string | null {
  if (!/^multipart\/form-data\s*;/i.test(contentType)) return null
  return parametersOf(contentType).get('boundary') ?? null
}

/**
 * Passes a form on while it arrives, without the fields that name a model, and adds the pinned one at its end. At most the headers of
 * one part are kept in memory.
 */
export async function* pinFormModel(source: AsyncIterable<Buffer>, pin: FormPin): AsyncGenerator<Buffer> {
  const pinning = new FormPinning(pin)
  for await (const chunk of source) yield* pinning.take(chunk)
  yield pinning.finish()
}

class FormPinning {
  readonly #pin: FormPin
  readonly #delimiter: Buffer
  #place: 'content' | 'part' | 'end' = 'content'
  /** Whether the current part names a model. */
  #isDropped = false
  #isNamed = false
  /** Begins with a line end, because the first delimiter may be the first line. */
  #pending: Buffer = Buffer.from(LINE_END)
  /** The first bytes that are not of the form. */
  #addedBytes = LINE_END.length

  constructor(pin: FormPin) {
    this.#pin = pin
    this.#delimiter = Buffer.from(`${LINE_END}--${pin.boundary}`)
  }

  /** Returns what can be passed on after a further piece of the form. */
  *take(chunk: Buffer): Generator<Buffer> {
    this.#pending = Buffer.concat([this.#pending, chunk])
    for (let passed = this.#step(); passed !== null; passed = this.#step()) yield this.#withoutAdded(passed)
  }

  /** Returns the rest. If the form is not complete, the gateway refuses it. */
  finish(): Buffer {
    return this.#isDropped && this.#place === 'content' ? NONE : this.#withoutAdded(this.#pending)
  }

  /** Returns null if more must arrive. */
  #step(): Buffer | null {
    if (this.#place === 'content') return this.#readContent()
    if (this.#place === 'part') return this.#readHeaders()
    return this.#pending.length === 0 ? null : this.#cut(this.#pending.length)
  }

  #readContent(): Buffer | null {
    const at = this.#pending.indexOf(this.#delimiter)
    // The last bytes may be the beginning of a delimiter.
    const length = at === -1 ? this.#pending.length - this.#delimiter.length + 1 : at
    if (at === -1 && length <= 0) return null
    const content = this.#cut(length)
    if (at !== -1) {
      this.#cut(this.#delimiter.length)
      this.#place = 'part'
    }
    return this.#isDropped ? NONE : content
  }

  #readHeaders(): Buffer | null {
    if (this.#pending.length < 2) return null
    if (this.#pending.subarray(0, 2).toString() === '--') return this.#readEnd()
    const end = this.#pending.indexOf(HEADER_END)
    if (end === -1 && this.#pending.length <= HEADER_BYTES_MAX) return null
    if (end === -1 || end > HEADER_BYTES_MAX)
      throw new BodyRefused(
        400,
        'invalid_request',
        `A part of the form has more than ${HEADER_BYTES_MAX} bytes of headers.`,
      )
    const headers = this.#cut(end + HEADER_END.length)
    this.#place = 'content'
    this.#isDropped = namesModel(headers.toString('latin1'))
    this.#isNamed ||= this.#isDropped
    return this.#isDropped ? NONE : Buffer.concat([this.#delimiter, headers])
  }

  #readEnd(): Buffer {
    this.#place = 'end'
    if (!this.#isNamed && !this.#pin.isAdded) return this.#delimiter
    const field = `${LINE_END}Content-Disposition: form-data; name="model"${HEADER_END}${this.#pin.model}`
    return Buffer.concat([this.#delimiter, Buffer.from(field), this.#delimiter])
  }

  #cut(length: number): Buffer {
    const first = this.#pending.subarray(0, length)
    this.#pending = this.#pending.subarray(length)
    return first
  }

  #withoutAdded(bytes: Buffer): Buffer {
    const rest = bytes.subarray(this.#addedBytes)
    this.#addedBytes = Math.max(0, this.#addedBytes - bytes.length)
    return rest
  }
}

/** `model[]` is the same field. */
function namesModel(headers: string): boolean {
  const unfolded = headers.replaceAll(/\r\n[ \t]+/g, ' ')
  const disposition = /^content-disposition[ \t]*:(.*)$/im.exec(unfolded)?.[1] ?? ''
  const parameters = parametersOf(disposition)
  const name = parameters.get('name') ?? parameters.get('name*')?.replace(/^[^']*'[^']*'/, '')
  return name === 'model' || name === 'model[]'
}

/** Reads the parameters of a header. A quoted value may contain what looks like another parameter. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of header.matchAll(
    /;\s*([^\s=;"]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/g,
  )) {
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain.trim()
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value)
  }
  return found
}
