import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'

/** Bodies are read as they come: how large a compressed one is would be known only after it was unpacked. */
export function requirePlainBody({ 'content-encoding': encoding }: IncomingHttpHeaders): void {
  if (encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity') return
  throw new AppError(
    'unsupported_media_type',
    'Compressed bodies are not taken. Send it without a content-encoding.',
    {
      headers: { 'accept-encoding': 'identity' },
    },
  )
}
