import type { IncomingHttpHeaders } from 'node:http'
import type { DeliveryPreference } from '../../modules/generation/generation.ts'
import { parsePrefer } from './prefer-header.ts'

/** Whether images of asynchronous models are waited for where the client says nothing of it. */
export type ImageWait = 'auto' | 'always' | 'never'

const WAIT_SECONDS = 60

/** What the `Prefer` header says; without one, what a client that cannot poll needs. */
export function imagePreference(headers: IncomingHttpHeaders, imageWait: ImageWait): DeliveryPreference {
  const preference = parsePrefer(headers['prefer'])
  if (preference.isAsyncWanted || preference.waitSeconds !== null || imageWait === 'never') return preference
  return imageWait === 'always' || cannotPoll(headers)
    ? { ...preference, waitSeconds: WAIT_SECONDS, isWaitByDefault: true }
    : preference
}

/** OpenAI's SDKs say which language they are written in; the AI SDK and its providers stand in the user agent. */
function cannotPoll(headers: IncomingHttpHeaders): boolean {
  return headers['x-stainless-lang'] !== undefined || /\bai(?:-sdk)?\//i.test(headers['user-agent'] ?? '')
}
