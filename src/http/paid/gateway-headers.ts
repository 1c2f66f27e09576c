import type { FastifyReply } from 'fastify'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import type { InferenceRecord } from '../../modules/inference/inference.ts'
import type { Exchange } from '../exchange.ts'

/** What the headers of a paid answer tell. */
export type Told = Pick<
  InferenceRecord,
  'provider' | 'model' | 'costNanoUsd' | 'balanceNanoUsd' | 'upstreamMs'
> &
  Partial<Pick<InferenceRecord, 'deprecation'>>

/** Adds the headers of a paid answer. The cost of a stream is null, because it is not known yet. */
export function pushGatewayHeaders(
  headers: string[],
  exchange: Exchange,
  told: Told,
  costNanoUsd: NanoUsd | null = told.costNanoUsd,
): void {
  if (costNanoUsd !== null) headers.push('x-gateway-cost-usd', formatUsd(costNanoUsd))
  if (told.provider !== null) headers.push('x-gateway-provider', told.provider)
  if (told.model !== null) headers.push('x-gateway-model', told.model)
  if (told.balanceNanoUsd !== null) headers.push('x-gateway-balance-usd', formatBalance(told.balanceNanoUsd))
  if (told.deprecation) headers.push(...told.deprecation)
  const inGatewayMs = performance.now() - exchange.startedMs - told.upstreamMs
  headers.push('x-gateway-latency-ms', Math.max(0, inGatewayMs).toFixed(1))
}

/** Sets them on a reply of the framework. A route that writes its own answer calls it before the first byte. */
export function setGatewayHeaders(reply: FastifyReply, exchange: Exchange, told: Told): void {
  const headers: string[] = []
  pushGatewayHeaders(headers, exchange, told)
  setHeaders(reply, headers)
}

/** Sets headers that are alternating names and values. */
export function setHeaders(reply: FastifyReply, pairs: readonly string[]): void {
  for (let index = 0; index + 1 < pairs.length; index += 2) reply.header(pairs[index] ?? '', pairs[index + 1])
}

let lastBalance: NanoUsd = 0n
let lastBalanceText = '0'

// Cached, because the same amount is formatted again and again.
function formatBalance(balance: NanoUsd): string {
  if (balance !== lastBalance) {
    lastBalance = balance
    lastBalanceText = formatUsd(balance)
  }
  return lastBalanceText
}
