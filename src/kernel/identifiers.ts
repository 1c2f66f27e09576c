import { randomBytes, randomFillSync } from 'node:crypto'

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Returns a UUIDv7. It sorts by creation time, which keeps indexes dense and allows ids as cursors. */
export function createId(nowMs: number = Date.now()): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(nowMs, 0, 6)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Returns an id that sorts before all ids created at this time or later, and after all earlier ones. */
export function firstIdAt(epochMs: number): string {
  const hex = Math.max(0, epochMs).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}

/** Returns when a UUIDv7 was created, in milliseconds since the epoch. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

export function isUuid(text: string): boolean {
  return UUID_PATTERN.test(text)
}

const REQUEST_PREFIX = 'req_'
const TIME_DIGITS = 12
let lastMs = 0
let lastMsText = ''

/** Returns `req_` and the digits of a UUIDv7, which is the id of the request's usage record. */
export function createRequestId(nowMs: number): string {
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastMsText = nowMs.toString(16).padStart(TIME_DIGITS, '0')
  }
  const random = takeRandomHex()
  return `${REQUEST_PREFIX}${lastMsText}7${random.slice(0, 3)}8${random.slice(3, 18)}`
}

/** The reverse of `uuidOfRequest`. */
export function requestIdOf(uuid: string): string {
  return REQUEST_PREFIX + uuid.replaceAll('-', '').toLowerCase()
}

/** Returns the 32 digits without the prefix. */
export function uuidOfRequest(requestId: string): string {
  return requestId.slice(REQUEST_PREFIX.length)
}

/** Returns a prefix with 96 random bits, such as `chatcmpl-…`. */
export function createToken(prefix: string): string {
  return prefix + takeRandomHex()
}

const TOKEN_BYTES = 12
const pool = Buffer.alloc(TOKEN_BYTES * 512)
let poolOffset = pool.length

// Reads random bytes for 512 tokens at once, because a system call per token costs more than the rest of the id.
function takeRandomHex(): string {
  if (poolOffset === pool.length) {
    randomFillSync(pool)
    poolOffset = 0
  }
  poolOffset += TOKEN_BYTES
  return pool.toString('hex', poolOffset - TOKEN_BYTES, poolOffset)
}
