import { Type } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import type { Media } from '../../../modules/media/media.ts'
import { NO_KEY } from '../../access.ts'
import { sendFile } from '../../answers/send-file.ts'
import { defineRoute, type Route } from '../../route.ts'

const TokenParams = Type.Object({
  token: Type.String({ description: 'Which file, until when, and a signature.' }),
})

const File = { contentType: 'application/octet-stream', schema: Type.String({ format: 'binary' }) }

interface MediaRoutesOptions {
  readonly media: Media
  readonly clock: Clock
  /** Called when a file could not be read to its end. */
  readonly onBroken: (error: unknown, requestId: string) => void
}

/** Serves the files of results. No key is needed, because the URL is secret. */
export const mediaRoutes = ({ media, clock, onBroken }: MediaRoutesOptions): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/media/:token',
    summary: 'Download a file',
    tag: 'Media',
    access: NO_KEY,
    otherErrors: [503],
    params: TokenParams,
    responses: {
      200: { description: 'The file, of its own type.', ...File },
      206: { description: 'The part that `Range` asked for.', ...File },
      304: { description: 'The client has it: `If-None-Match`.' },
      416: { description: 'Nothing of the file lies in the `Range`.' },
    },
    handle: async ({ params, headers, reply, exchange }) => {
      const file = await media.openAddress(params.token)
      const ageSecondsMax = Math.max(0, Math.floor((file.expiresAt.getTime() - clock.nowMs()) / 1000))
      const request = { headers, reply, exchange }
      const error = await sendFile(file, request, {
        'cache-control': `private, max-age=${ageSecondsMax}, immutable`,
        'content-disposition': 'inline',
        'cross-origin-resource-policy': 'cross-origin',
        'referrer-policy': 'no-referrer',
      })
      if (error !== null && !exchange.cancellation.isCancelled) onBroken(error, exchange.id)
    },
  }),
]
