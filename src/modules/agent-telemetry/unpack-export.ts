import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

const unpack = promisify(gunzip)

/** As it was sent, perhaps compressed. */
export const EXPORT_BYTES_MAX = 4 * 1024 * 1024
/** A few bytes can unpack to gigabytes. Claude Code sends some hundred kilobytes at most. */
const UNPACKED_BYTES_MAX = 16 * 1024 * 1024

const TELEMETRY_TYPES = ['application/x-protobuf', 'application/json'] as const

export interface TelemetryExport {
  /** The whole header, or undefined. */
  readonly contentType: string | undefined
  readonly contentEncoding: string | undefined
  /** Empty if it is too large. */
  readonly body: Buffer
  /** As it was sent. */
  readonly bytes: number
}

/** Returns what is wrong with an export, in a sentence, or null. The collector unpacks it again: what is passed on is what was sent. */
export async function findFault({
  contentType,
  contentEncoding,
  body,
  bytes,
}: TelemetryExport): Promise<string | null> {
  if (bytes > EXPORT_BYTES_MAX) return `It has more than ${EXPORT_BYTES_MAX / 1024 / 1024} MiB.`
  if (typeOf(contentType) === null) return `Send ${TELEMETRY_TYPES.join(' or ')}.`
  const encoding = contentEncoding?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return null
  if (encoding !== 'gzip') return 'Send it plain or with gzip.'
  return unpack(body, { maxOutputLength: UNPACKED_BYTES_MAX }).then(
    () => null,
    (error: unknown) =>
      error instanceof RangeError
        ? `It has more than ${UNPACKED_BYTES_MAX / 1024 / 1024} MiB unpacked.`
        : 'It cannot be unpacked with gzip.',
  )
}

/** Returns the type without its parameters. Exporters that name none send protobuf. Null for another type. */
export function typeOf(contentType: string | undefined): (typeof TELEMETRY_TYPES)[number] | null {
  const plain = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return plain === '' ? TELEMETRY_TYPES[0] : (TELEMETRY_TYPES.find((type) => type === plain) ?? null)
}
