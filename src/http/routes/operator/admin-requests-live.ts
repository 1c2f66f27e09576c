import { Type, type Static } from 'typebox'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { EndedRequests, LogQuery } from '../../../modules/request-log/request-log.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { AdminEntryAnswer, adminEntryToWire } from './admin-request-wire.ts'
import { AdminRequestsQuery, parseAdminQuery, readerOfQuery } from './admin-requests-query.ts'

const {
  limit: _limit,
  after: _after,
  since: _since,
  until: _until,
  request_id: _id,
  ...filters
} = AdminRequestsQuery.properties

const LiveRequests = Type.Object(
  {
    object: objectName('live_requests'),
    data: Type.Array(AdminEntryAnswer, {
      description:
        'The requests that ended since the event before, oldest first. The first event has the last ones.',
    }),
    is_cut: Type.Boolean({
      description: 'More requests ended than one event has. The others are in the list.',
    }),
  },
  { title: 'LiveRequests' },
)

/** Requests that end, in all processes. */
export interface RequestFeed {
  /** Throws if there are too many streams. Ends on shutdown and on cancellation. */
  open(query: LogQuery, cancellation: Cancellation): AsyncIterable<EndedRequests>
}

interface LiveRequestParts {
  readonly feed: RequestFeed
  readonly accounts: Pick<Accounts, 'read'>
  readonly clock: Clock
}

export const adminLiveRequestRoutes = ({ feed, accounts, clock }: LiveRequestParts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/admin/requests/live',
    summary: 'Follow the requests of all accounts',
    tag: 'Operator',
    access: ofGateway('gateway.read'),
    query: Type.Object(filters),
    otherErrors: [404, 429, 503],
    responses: {
      200: {
        description: 'Events of this form, then `[DONE]`.',
        schema: LiveRequests,
        contentType: 'text/event-stream',
      },
    },
    handle: async ({ query, exchange, reply }) => {
      const reader = await readerOfQuery(accounts, query.account_id)
      const asked = parseAdminQuery(reader, query, clock.nowMs())
      await sendEventReply(reply, writeEvents(feed.open(asked, exchange.cancellation)), exchange)
    },
  }),
]

async function* writeEvents(events: AsyncIterable<EndedRequests>): AsyncGenerator<readonly Buffer[]> {
  for await (const { entries, isCut } of events) {
    const event: Static<typeof LiveRequests> = {
      object: 'live_requests',
      data: entries.map(adminEntryToWire),
      is_cut: isCut,
    }
    yield [Buffer.from(JSON.stringify(event))]
  }
}
