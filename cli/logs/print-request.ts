import type { paths } from '../../api-types/generated/gateway-api.ts'
import { formatUsd } from '../output/format-usd.ts'
import { printPairs } from '../output/tables/print-pairs.ts'
import { printTable } from '../output/tables/print-table.ts'
import type { Output } from '../output/terminal.ts'
import { describeStatus, formatMs } from './describe-entry.ts'

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never

export type LoggedRequest = Answer<'/v1/requests/{request_id}'>
export type LoggedBodies = Answer<'/v1/requests/{request_id}/body'>

/** Prints a request in full: what was asked, where the time went, what it cost, and the calls of upstreams. */
export function printRequest(output: Output, request: LoggedRequest): void {
  const { timings, task, user } = request
  printPairs(output, [
    ['request', request.request_id],
    ['began', `${request.created_at}${output.isTerminal ? ` (${output.time(request.created_at)})` : ''}`],
    ['status', `${describeStatus(request)}, ${request.outcome}`],
    ...(request.error_code === null ? [] : [['error', describeError(request)] as const]),
    ['operation', request.operation + (request.wire === null ? '' : `, asked as ${request.wire}`)],
    ['model', describeModel(request)],
    ['provider', request.provider ?? '-'],
    ['key', `${request.key_name ?? '-'} (${request.key_id}), ${request.env}`],
    ...(user === null ? [] : [['user', user] as const]),
    ...(request.tags === undefined ? [] : [['tags', describeTags(request.tags)] as const]),
    ['tokens', describeTokens(request)],
    ['cost', describeCost(request)],
    ['took', formatMs(timings.total_ms)],
    ['queue', orDash(timings.queue_ms)],
    ['upstream', orDash(timings.upstream_ms)],
    ['first token', orDash(timings.ttft_ms)],
    ['streaming', orDash(timings.streaming_ms)],
    ...(task === null ? [] : [['task', `${task.id}, ${task.type}, ${task.status}`] as const]),
    ['bodies', request.body_stored ? `stored: parkway logs show --body ${request.request_id}` : 'not stored'],
  ])
  if (request.attempts === null || request.attempts.length === 0) return
  output.line('')
  printTable(
    output,
    [
      { title: 'attempt', of: ({ number }) => String(number), isNumber: true },
      { title: 'provider', of: ({ provider }) => provider, rank: 1 },
      { title: 'model', of: ({ model }) => model, rank: 4, isText: true },
      { title: 'reason', of: ({ reason }) => reason, rank: 6 },
      { title: 'after', of: (attempt) => formatMs(attempt.started_ms), isNumber: true, rank: 5 },
      { title: 'took', of: (attempt) => formatMs(attempt.duration_ms), isNumber: true, rank: 3 },
      {
        title: 'outcome',
        of: (attempt) => attempt.outcome + (attempt.http_status === null ? '' : ` ${attempt.http_status}`),
        rank: 2,
      },
    ],
    request.attempts,
  )
}

/** Prints what was sent in both directions. The text of a stream replaces its events. */
export function printBodies(output: Output, { request, answer }: LoggedBodies): void {
  output.line(output.style('bold', 'request'))
  output.text(request.text)
  output.line('')
  output.line(output.style('bold', 'answer'))
  output.text(answer.assembled_text ?? answer.text)
}

function describeError({ error_code: code, error_message: message }: LoggedRequest): string {
  return [code, message].filter((part) => part !== null).join(': ')
}

function describeModel({ model, requested_model: requested }: LoggedRequest): string {
  if (model === null) return requested === null ? '-' : `${requested} (not found)`
  return requested === null || requested === model ? model : `${model}, asked for as ${requested}`
}

function describeTags(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

function describeTokens(request: LoggedRequest): string {
  const { prompt_tokens: input, completion_tokens: output } = request
  const details = [
    [request.cached_tokens, 'from a cache'],
    [request.cache_write_tokens, 'written to a cache'],
    [request.reasoning_tokens, 'for reasoning'],
  ] as const
  const named = details.flatMap(([count, name]) => (count === 0 ? [] : [`${count} ${name}`]))
  return [`${input} in`, `${output} out`, ...named].join(', ')
}

function describeCost({
  cost_usd: cost,
  promotional_usd: promotional,
  uncovered_usd: uncovered,
}: LoggedRequest) {
  return [
    formatUsd(cost),
    ...(promotional === 0 ? [] : [`${formatUsd(promotional)} of it promotional`]),
    ...(uncovered === 0 ? [] : [`${formatUsd(uncovered)} more was not charged`]),
  ].join(', ')
}

function orDash(ms: number | null): string {
  return ms === null ? '-' : formatMs(ms)
}
