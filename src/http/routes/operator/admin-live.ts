import { Type } from 'typebox'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, objectName } from '../../../wires/usual-members.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const rate = (description: string) => Type.Number({ description })

const Latency = Type.Object(
  {
    p50: orNull(Type.Number(), 'Estimated; null without requests.'),
    p95: orNull(Type.Number(), 'Estimated; null without requests.'),
  },
  { description: 'In milliseconds.' },
)

/** One event of the stream. */
export const LiveOverview = Type.Object(
  {
    object: objectName('overview'),
    at: Type.String({ format: 'date-time', description: 'When the figures were read.' }),
    processes: Type.Integer({ description: 'How many processes of the gateway the figures cover.' }),
    requests: Type.Object(
      {
        per_second: rate('Requests to the API, without those of operators.'),
        errors_per_second: rate('Those with a status of 500 or above.'),
        refused_per_second: rate('Those with a status from 400 to 499.'),
        running: Type.Integer({ description: 'Requests that are not answered yet.' }),
        latency_ms: Latency,
      },
      { description: 'Requests to the API.' },
    ),
    tokens_per_second: Type.Object(
      { prompt: rate('Of prompts.'), completion: rate('Of answers.') },
      { description: 'Tokens that models read and wrote.' },
    ),
    spend_usd_per_second: rate('What accounts were charged.'),
    tasks: Type.Object(
      {
        pending: Type.Integer({ description: 'Tasks that wait.' }),
        processing: Type.Integer({ description: 'Tasks that are worked on.' }),
      },
      { description: 'Tasks of all accounts.' },
    ),
    queue: Type.Object(
      {
        waiting: Type.Integer({ description: 'Requests that wait for a slot of a local model.' }),
        in_use: Type.Integer({ description: 'Slots in use.' }),
        slots: Type.Integer({ description: 'All slots.' }),
      },
      { description: 'The slots of local models.' },
    ),
    workers: Type.Object(
      {
        running: Type.Integer({ description: 'Processes that work on tasks.' }),
        stopped: Type.Integer({ description: 'Processes that should and do not.' }),
        slots: Type.Integer({ description: 'Tasks that they work on at once.' }),
      },
      { description: 'Processes for tasks.' },
    ),
    database: Type.Object(
      {
        latency_ms: orNull(Type.Number(), 'Of one round trip; null while it does not answer.'),
        pool: Type.Object(
          {
            size: Type.Integer({ description: 'Connections that may be open.' }),
            in_use: Type.Integer({ description: 'Connections in use.' }),
            waiting: Type.Integer({ description: 'Queries that wait for a connection.' }),
          },
          { description: 'The connections of all processes.' },
        ),
        unposted_commits: orNull(Type.Integer(), 'Committed charges that are not in the books yet.'),
      },
      { description: 'The database.' },
    ),
    disk: orNull(
      Type.Object({
        free_bytes: Type.Number({ description: 'What is free.' }),
        total_bytes: Type.Number({ description: 'What there is.' }),
      }),
      'Of the process with the least space.',
    ),
    providers: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The id of the provider.' }),
        requests: Type.Integer({ description: 'In the last five minutes.' }),
        errors: Type.Integer({ description: 'Those that failed.' }),
        error_share: orNull(Type.Number(), 'Errors divided by requests.'),
        latency_ms: Latency,
        open_breakers: Type.Integer({ description: 'Models that it serves badly at the moment.' }),
      }),
      { description: 'The providers that were called in the last five minutes.' },
    ),
    attention: Type.Array(
      Type.Object({
        level: Type.Enum(['critical', 'warning', 'info'], { description: 'How urgent it is.' }),
        code: Type.String({ description: 'The kind of problem.' }),
        subject: orNull(Type.String(), 'What it is about, such as a provider.'),
        message: Type.String({ description: 'What it is, in a sentence.' }),
        explanation: orNull(
          Type.String(),
          'Of a failing provider: why its breakers are open or closed. Null for all others.',
        ),
        failures: Type.Array(
          Type.Object({
            provider: Type.String({ description: 'Who failed.' }),
            model: orNull(Type.String(), 'The model of the catalog.'),
            account_id: AccountId,
            account_name: orNull(Type.String(), 'The name of the account now.'),
            calls: Type.Integer({ description: 'How many calls failed in the last five minutes.' }),
            failure: Type.String({ description: '`status`, `timeout`, `connect` and so on.' }),
            http_status: orNull(Type.Integer(), 'The status of the upstream.'),
            error_code: orNull(Type.String(), "The upstream's own code."),
          }),
          { description: 'Of a failing provider: whose calls failed, and how. The most frequent first.' },
        ),
      }),
      { description: 'What needs attention, the most urgent first.' },
    ),
  },
  { title: 'LiveOverview' },
)

/** Live figures over all processes. */
export interface LiveFeed {
  /** Throws if there are too many streams. The batches end on shutdown and on cancellation. */
  open(cancellation: Cancellation): AsyncIterable<readonly Buffer[]>
}

export const adminLiveRoutes = ({ live }: { live: LiveFeed }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/admin/live',
    summary: 'Follow the live figures',
    tag: 'Operator',
    access: ofGateway('gateway.read'),
    otherErrors: [429],
    responses: {
      200: {
        description: 'Events of this form, one every two seconds, then `[DONE]`.',
        schema: LiveOverview,
        contentType: 'text/event-stream',
      },
    },
    handle: async ({ exchange, reply }) => {
      const events = live.open(exchange.cancellation)
      await sendEventReply(reply, events, exchange)
    },
  }),
]
