import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'

/** Refuses compressed bodies, because their real size is known only after unpacking. */
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
