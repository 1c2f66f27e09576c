import type { FastifyReply } from 'fastify'
import { formatUsd } from '../../kernel/money.ts'
import type { InferenceRecord } from '../../modules/inference/inference.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { Exchange } from '../exchange.ts'
import { admitRequest } from '../answers/rate-headers.ts'
import type { RouteRequest } from '../route.ts'

/** What a paid request asks of the limits. */
interface Demand {
  /** The category of the route, because the model is not known yet when the limits are checked. */
  readonly category: string
  readonly tokens?: number
}

/** Wraps the work of every paid framework route: admit, run, and add the headers of both. */
export type RunPaid = <Result>(
  request: PaidRequest,
  record: InferenceRecord,
  demand: Demand,
  work: () => Promise<Result>,
) => Promise<Result>

type PaidRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'caller' | 'exchange' | 'reply'>

export function createRunPaid({ limits }: { limits: Limits }): RunPaid {
  return async ({ caller, exchange, reply }, record, { category, tokens = 0 }, work) => {
    exchange.inference = record
    const rateHeaders: string[] = []
    const admission = await admitRequest(limits, { caller, category, tokens }, rateHeaders)
    for (let index = 0; index + 1 < rateHeaders.length; index += 2)
      reply.header(rateHeaders[index] ?? '', rateHeaders[index + 1])
    try {
      const result = await work()
      if (!reply.raw.headersSent) setGatewayHeaders(reply, exchange, record)
      return result
    } finally {
      const { usage, costNanoUsd } = record
      const used = usage === null ? 0 : usage.promptTokens + usage.completionTokens
      admission.finish({ tokens: used, spentNanoUsd: costNanoUsd ?? 0n })
    }
  }
}

/** For an answer that is written by its route: before its first byte. */
export function setGatewayHeaders(reply: FastifyReply, exchange: Exchange, record: InferenceRecord): void {
  const { provider, model, costNanoUsd, balanceNanoUsd, upstreamMs } = record
  if (costNanoUsd !== null) reply.header('x-gateway-cost-usd', formatUsd(costNanoUsd))
  if (provider !== null) reply.header('x-gateway-provider', provider)
  if (model !== null) reply.header('x-gateway-model', model)
  if (balanceNanoUsd !== null) reply.header('x-gateway-balance-usd', formatUsd(balanceNanoUsd))
  const inGatewayMs = performance.now() - exchange.startedMs - upstreamMs
  reply.header('x-gateway-latency-ms', Math.max(0, inGatewayMs).toFixed(1))
}
