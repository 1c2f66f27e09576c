import { PROBE_PATHS } from './probe-paths.ts'

const HEAD_END = Buffer.from('\r\n\r\n')
const HEAD_BYTES_MAX = 16 * 1024
const KEY = /\r\n(?:authorization:[ \t]{0,8}bearer |x-api-key:[ \t]{0,8})([\w-]{1,250})[ \t]{0,8}\r\n/i

/**
 * Returns whether a request may be read although the limit for unauthenticated bytes is reached: its head is complete and has a
 * cached key, or it is a health probe. It is authenticated afterwards like any other request.
 */
export function isTrustedHead(bytes: Buffer, isKnownKey: (token: string) => boolean): boolean {
  const end = bytes.indexOf(HEAD_END)
  if (end === -1 || end > HEAD_BYTES_MAX) return false
  const head = bytes.toString('latin1', 0, end + LINE_END_LENGTH)
  const path = /^GET (\/[a-z]{1,20}) HTTP\/1\.[01]\r\n/.exec(head)?.[1]
  if (path !== undefined && PROBE_PATHS.has(path)) return true
  const token = KEY.exec(head)?.[1]
  return token !== undefined && isKnownKey(token)
}

/** The line break of the last header, which the pattern needs. */
const LINE_END_LENGTH = 2
