import { Type } from 'typebox'
import { notFound } from '../../kernel/app-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import { orNull } from '../../wires/nullable.ts'
import { NO_KEY } from '../access.ts'
import { defineRoute, type Route } from '../route.ts'
import { readStatus, type PublicStatus, type StatusParts } from './read-status.ts'
import { renderStatus, STATUS_HEADERS } from './render-status.ts'

/** So old a page may be. However often it is asked for, the database is read once in this time. */
const KEPT_MS = 60_000
const PUBLIC_CACHE = 'public, max-age=60'

const StateField = Type.Enum(['operational', 'degraded', 'down', 'unknown'], {
  description:
    '`degraded` from 5 % failed calls on, `down` from half of them on, `unknown` with fewer than five calls.',
})
const Uptime = orNull(
  Type.Number(),
  'The part of the hours in which more than half of the calls did not fail. Null without calls.',
)

const StatusAnswer = Type.Object({
  state: StateField,
  updated_at: Type.String({ format: 'date-time', description: 'When this was read.' }),
  providers: Type.Array(
    Type.Object({
      name: Type.String({ description: 'The name of the provider.' }),
      state: StateField,
      uptime: Uptime,
      days: Type.Array(
        Type.Object({
          date: Type.String({ format: 'date', description: 'A day of UTC.' }),
          state: StateField,
          uptime: Uptime,
        }),
        { description: 'The last 30 days, oldest first. Empty without calls.' },
      ),
    }),
    { description: 'The providers that are configured, by name.' },
  ),
})

interface StatusRouteParts extends StatusParts {
  /** The operator's setting. */
  readonly isOn: boolean
  readonly logger: Logger
}

/** The public status page. Where it is off, it does not exist. */
export function statusRoutes({ isOn, logger, ...parts }: StatusRouteParts): Route[] {
  const read = keepStatus(parts, logger)
  const shared = { method: 'GET', tag: 'Operations', access: NO_KEY, otherErrors: [404] } as const
  return [
    defineRoute({
      ...shared,
      path: '/status',
      summary: 'How the providers did, as a page',
      responses: { 200: { description: 'A page.', schema: Type.String(), contentType: 'text/html' } },
      handle: async ({ reply }) => {
        if (!isOn) throw notFound('status page')
        const status = await read()
        reply
          .headers({ ...STATUS_HEADERS, 'cache-control': PUBLIC_CACHE })
          .type('text/html; charset=utf-8')
          .send(renderStatus(status))
      },
    }),
    defineRoute({
      ...shared,
      path: '/status.json',
      summary: 'How the providers did',
      responses: { 200: { description: 'The state now and of 30 days.', schema: StatusAnswer } },
      handle: async ({ reply }) => {
        if (!isOn) throw notFound('status page')
        const status = await read()
        reply.header('cache-control', PUBLIC_CACHE)
        return status
      },
    }),
  ]
}

/** Reads the status at most once in a minute, also where reading fails: then the last one is shown. */
function keepStatus(parts: StatusParts, logger: Logger): () => Promise<PublicStatus> {
  let kept: Promise<PublicStatus> | null = null
  let last: PublicStatus | null = null
  let readAtMs = 0
  const readNow = async (): Promise<PublicStatus> => {
    try {
      last = await readStatus(parts)
    } catch (error) {
      logger.warn({ err: error }, 'the status page could not be read')
    }
    return (
      last ?? { state: 'unknown', updated_at: new Date(parts.clock.nowMs()).toISOString(), providers: [] }
    )
  }
  return () => {
    const nowMs = parts.clock.nowMs()
    if (kept === null || nowMs - readAtMs >= KEPT_MS || nowMs < readAtMs) {
      kept = readNow()
      readAtMs = nowMs
    }
    return kept
  }
}
