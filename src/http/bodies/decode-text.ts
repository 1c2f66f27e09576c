import { isUtf8 } from 'node:buffer'
import { AppError } from '../../kernel/app-error.ts'

/** What the decoder writes where bytes are no UTF-8. */
const REPLACEMENT = '\ufffd'

/** The text of a body. Refused where it is no UTF-8: a replaced character would be stored or sent on as if it had been meant. */
export function decodeText(bytes: Buffer): string {
  const text = bytes.toString()
  // A replacement character may also stand there of its own; only then are the bytes looked at again.
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) {
    throw new AppError('invalid_json', 'The body is not valid UTF-8.')
  }
  return text
}
