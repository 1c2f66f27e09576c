import { isUtf8 } from 'node:buffer'
import { AppError } from '../../kernel/app-error.ts'

/** The character that the decoder writes for invalid UTF-8. */
const REPLACEMENT = '\ufffd'

/** Decodes a body. Refuses invalid UTF-8, because a replaced character would be stored or forwarded as real text. */
export function decodeText(bytes: Buffer): string {
  const text = bytes.toString()
  // The text may really contain this character, so check the bytes.
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) {
    throw new AppError('invalid_json', 'The body is not valid UTF-8.')
  }
  return text
}
