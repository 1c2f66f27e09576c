import { UpstreamError } from '../../failures/upstream-error.ts'
import type { WireSession } from './media-wire.ts'
import { requestJson, type JsonRequest } from './request-json.ts'

const ENDED_STATUSES: ReadonlySet<number> = new Set([400, 404, 405, 409, 410, 422])

/** Cancels a job. It is not an error if the vendor refuses because the job runs or has ended. */
export async function cancelByRequest(session: WireSession, request: JsonRequest): Promise<void> {
  try {
    await requestJson(session, request)
  } catch (error) {
    if (!(error instanceof UpstreamError && ENDED_STATUSES.has(error.details.status ?? 0))) throw error
  }
}

export function bearer({ apiKey }: WireSession): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${apiKey}` }
}
