import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseJson } from '../../kernel/json/parse-json.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { ALL_TAKEN, type Delivered, type ExportSink } from '../export-sink.ts'
import { postConfirmed } from '../post-confirmed.ts'
import { describeLogs, type LogResource } from './describe-logs.ts'

interface OtlpSinkOptions {
  readonly outbound: Pick<Outbound, 'fetch'>
  /** The address of the collector, with or without `/v1/logs`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: LogResource
}

const REQUESTS_MAX = 1_000
const BYTES_MAX = 1024 * 1024
const PATH = '/v1/logs'

/** Sends requests as OTLP logs, over HTTP with JSON. */
export function createOtlpSink({ outbound, url, headers, resource }: OtlpSinkOptions): ExportSink {
  const address = url.endsWith(PATH) ? url : `${url.replace(/\/+$/, '')}${PATH}`
  return {
    requestsMax: REQUESTS_MAX,
    bytesMax: BYTES_MAX,
    collectMs: 0,
    deliver: async ({ items }, cancellation) => {
      const text = JSON.stringify(
        describeLogs(
          items.map(({ request }) => request),
          resource,
        ),
      )
      const answer = await postConfirmed({
        outbound,
        url: address,
        headers: { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: await promisify(gzip)(text),
        cancellation,
      })
      return readAnswer(answer)
    },
    close: async () => {},
  }
}

const Answer = Type.Object({
  partialSuccess: Type.Optional(
    Type.Object({
      rejectedLogRecords: Type.Optional(
        Type.Union([Type.String({ pattern: '^[0-9]{1,9}$' }), Type.Integer()]),
      ),
      errorMessage: Type.Optional(Type.String()),
    }),
  ),
})

/** By the protocol, a collector that refuses some of the records does not want them again. */
function readAnswer(text: string): Delivered {
  let answer: unknown
  try {
    answer = parseJson(text)
  } catch {
    return ALL_TAKEN
  }
  if (!Value.Check(Answer, answer)) return ALL_TAKEN
  const refused = Number(answer.partialSuccess?.rejectedLogRecords ?? 0)
  return refused > 0 ? { refused, reason: answer.partialSuccess?.errorMessage ?? null } : ALL_TAKEN
}
