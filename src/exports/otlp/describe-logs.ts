import type { ExportedRequest } from '../exported-request.ts'

export interface LogResource {
  readonly serviceName: string
  readonly serviceVersion: string
  readonly attributes: Readonly<Record<string, string>>
}

type Value = string | number | boolean | null | undefined

const SCOPE = 'parkway.exports'
const EVENT = 'parkway.request'
/** Numbers and names of severities in the data model of logs. */
const SEVERITIES = {
  completed: [9, 'INFO'],
  disconnected: [13, 'WARN'],
  refused: [13, 'WARN'],
  failed: [17, 'ERROR'],
} as const

/** The body of an OTLP request for logs, in JSON. Names are those of the GenAI conventions where there is one. */
export function describeLogs(requests: readonly ExportedRequest[], resource: LogResource): object {
  return {
    resourceLogs: [
      {
        resource: {
          attributes: toAttributes({
            'service.version': resource.serviceVersion,
            ...resource.attributes,
            'service.name': resource.serviceName,
          }),
        },
        scopeLogs: [{ scope: { name: SCOPE }, logRecords: requests.map(describeRecord) }],
      },
    ],
  }
}

function describeRecord(request: ExportedRequest): object {
  const [severityNumber, severityText] = SEVERITIES[request.outcome]
  return {
    timeUnixNano: toNanoseconds(request.created_at),
    observedTimeUnixNano: toNanoseconds(request.recorded_at),
    severityNumber,
    severityText,
    eventName: EVENT,
    body: {
      stringValue: `${request.operation} ${request.model ?? ''} ${request.outcome}`.replace('  ', ' '),
    },
    attributes: toAttributes(describeAttributes(request)),
  }
}

function describeAttributes(request: ExportedRequest): Record<string, Value> {
  const tags = Object.entries(request.tags).map(([name, value]) => [`parkway.tag.${name}`, value] as const)
  return {
    'gen_ai.operation.name': request.gen_ai_operation,
    'gen_ai.provider.name': request.gen_ai_provider ?? 'parkway',
    'gen_ai.request.model': request.requested_model ?? request.model,
    'gen_ai.response.model': request.model,
    'gen_ai.usage.input_tokens': request.charged ? request.prompt_tokens : null,
    'gen_ai.usage.output_tokens': request.charged ? request.completion_tokens : null,
    'gen_ai.usage.cache_read.input_tokens': request.charged ? request.cached_tokens : null,
    'gen_ai.usage.cache_creation.input_tokens': request.charged ? request.cache_write_tokens : null,
    'gen_ai.usage.reasoning.output_tokens': request.charged ? request.reasoning_tokens : null,
    'http.response.status_code': request.http_status,
    'error.type': request.outcome === 'completed' ? null : (request.error_code ?? request.outcome),
    'error.message': request.error_message,
    'enduser.id': request.user,
    'parkway.export.number': request.number,
    'parkway.request.id': request.request_id,
    'parkway.request.client_id': request.client_request_id,
    'parkway.account.id': request.account_id,
    'parkway.account.name': request.account_name,
    'parkway.project.id': request.project_id,
    'parkway.key.id': request.key_id,
    'parkway.key.name': request.key_name,
    'parkway.env': request.env,
    'parkway.operation': request.operation,
    'parkway.provider': request.provider,
    'parkway.outcome': request.outcome,
    'parkway.charged': request.charged,
    'parkway.stream': request.stream,
    'parkway.batch': request.batch,
    'parkway.latency_ms': request.latency_ms,
    'parkway.ttft_ms': request.ttft_ms,
    'parkway.units': request.units,
    'parkway.cost_nano_usd': request.cost_nano_usd,
    'parkway.promotional_nano_usd': request.promotional_nano_usd,
    'parkway.uncovered_nano_usd': request.uncovered_nano_usd,
    'parkway.vendor_cost_nano_usd': request.vendor_cost_nano_usd,
    'parkway.upstream.status_code': request.upstream_status,
    'parkway.upstream.error_code': request.upstream_code,
    'parkway.upstream.error_message': request.upstream_message,
    'parkway.upstream.attempts': request.attempts,
    ...Object.fromEntries(tags),
  }
}

function toAttributes(values: Readonly<Record<string, Value>>): object[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: toAnyValue(value) }],
  )
}

/** All of our numbers are integers, which are text in JSON. */
function toAnyValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(value) }
}

function toNanoseconds(timestamp: string): string {
  return `${Date.parse(timestamp)}000000`
}
