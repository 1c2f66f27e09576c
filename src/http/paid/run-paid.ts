import { demandOf, usedUp, type Demand, type InferenceRecord } from '../../modules/inference/inference.ts'
import type { Admission, Limits } from '../../modules/limits/limits.ts'
import { admitRequest } from '../answers/rate-headers.ts'
import type { RouteRequest } from '../route.ts'
import { nameByClient } from './name-by-client.ts'
import { setGatewayHeaders, setHeaders } from './gateway-headers.ts'

/** Wraps the work of every paid framework route: admit, run, and add the headers of both. */
export type RunPaid = <Result>(
  request: PaidRequest,
  record: InferenceRecord,
  work: () => Promise<Result>,
) => Promise<Result>

type PaidRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'caller' | 'exchange' | 'reply'>

export function createRunPaid({ limits }: { limits: Limits }): RunPaid {
  return async ({ caller, exchange, reply }, record, work) => {
    exchange.inference = record
    nameByClient(record, exchange.incoming.headers)
    const admission = await admitReply(limits, { caller, reply }, demandOf(record.operation, {}, 0))
    try {
      const result = await work()
      if (!reply.raw.headersSent) setGatewayHeaders(reply, exchange, record)
      return result
    } finally {
      admission.finish(usedUp(record))
    }
  }
}

/** Does the same for free text work: it counts against the limits of the key, but is no inference. */
export async function runFree<Result>(
  limits: Limits,
  request: Pick<PaidRequest, 'caller' | 'reply'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const admission = await admitReply(limits, request, { category: 'llm', tokens: 0 })
  try {
    return await work()
  } finally {
    admission.finish({ tokens: 0, spentNanoUsd: 0n })
  }
}

async function admitReply(
  limits: Limits,
  { caller, reply }: Pick<PaidRequest, 'caller' | 'reply'>,
  demand: Demand,
): Promise<Admission> {
  const headers: string[] = []
  const admission = await admitRequest(limits, { caller, ...demand }, headers)
  setHeaders(reply, headers)
  return admission
}
