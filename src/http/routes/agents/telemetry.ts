import { Type } from 'typebox'
import {
  EXPORT_BYTES_MAX,
  TELEMETRY_SIGNALS,
  typeOf,
  type AgentTelemetry,
} from '../../../modules/agent-telemetry/agent-telemetry.ts'
import { messagesWire } from '../../../wires/anthropic-messages/messages-wire.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const PartialSuccess = Type.Object(
  {
    errorMessage: Type.String({ description: 'Why nothing of the export was taken.' }),
  },
  { description: 'Only of an export that cannot be read.' },
)
const ExportAnswer = Type.Object(
  { partialSuccess: Type.Optional(PartialSuccess) },
  { title: 'TelemetryAnswer' },
)

/** OTLP of agents. Paths and answers are those of the protocol: an error would be logged by the agent at each export. */
export const telemetryRoutes = ({ telemetry }: { telemetry: AgentTelemetry }): Route[] =>
  TELEMETRY_SIGNALS.map((signal) =>
    defineRoute({
      method: 'POST',
      path: `/v1/${signal}`,
      wire: messagesWire,
      tag: 'Messages',
      access: ANY_KEY,
      summary: `Export ${signal} of an agent`,
      takesRawBody: true,
      takesCompressedBody: true,
      discardsLargeBody: true,
      bodyLimitBytes: EXPORT_BYTES_MAX,
      responses: {
        200: {
          description: 'Taken. Also for an export that is too large or cannot be read: the answer says why.',
          schema: ExportAnswer,
          otherTypes: {
            'application/x-protobuf': Type.String({
              format: 'binary',
              description: 'The answer of the protocol. Empty if all is well.',
            }),
          },
        },
      },
      handle: async ({ caller, rawBody, headers, reply, exchange }) => {
        const contentType = first(headers['content-type'])
        const contentEncoding = first(headers['content-encoding'])
        const sent = { contentType, contentEncoding, body: rawBody, bytes: exchange.requestBytes }
        const fault = await telemetry.take(caller, signal, sent)
        if (typeOf(contentType) !== 'application/x-protobuf')
          return fault === null ? {} : { partialSuccess: { errorMessage: fault } }
        void reply.type('application/x-protobuf').send(encodeAnswer(fault))
        return undefined
      },
    }),
  )

function first(header: string | string[] | undefined): string | undefined {
  return [header].flat()[0]
}

/** Writes `partial_success { error_message }`, which has the same numbers in the answers of all signals. */
function encodeAnswer(fault: string | null): Buffer {
  if (fault === null) return Buffer.alloc(0)
  const message = Buffer.from(fault)
  // Sentences of ours have less than 120 bytes, so that each length is one byte.
  const inner = Buffer.concat([Buffer.from([0x12, message.length]), message])
  return Buffer.concat([Buffer.from([0x0a, inner.length]), inner])
}
