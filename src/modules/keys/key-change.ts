import { AppError } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'

/** What the processes tell each other, so that a revoked key stops working on all of them. */
export type KeyChange = { readonly keyId: string } | { readonly accountId: string }

/** The part of the message bus that keys need. */
export interface KeyChangeBus {
  subscribe(topic: string, handler: (payload: unknown) => void): unknown
  publishAndConfirm(
    topic: string,
    payload: unknown,
    options: { timeoutMs: number },
  ): Promise<{ confirmed: boolean }>
  onConnectionLost(handler: () => void): unknown
  isConnected(): boolean
}

export const KEY_CHANGE_TOPIC = 'key_change'

const CONFIRM_TIMEOUT_MS = 2000
const ANNOUNCE_ATTEMPTS_MAX = 2

/** Returns once every process has dropped what changed. Announcing twice does no harm. */
export async function announceKeyChange(messageBus: KeyChangeBus, change: KeyChange): Promise<void> {
  for (let attempt = 1; attempt <= ANNOUNCE_ATTEMPTS_MAX; attempt += 1) {
    const { confirmed } = await messageBus.publishAndConfirm(KEY_CHANGE_TOPIC, change, {
      timeoutMs: CONFIRM_TIMEOUT_MS,
    })
    if (confirmed) return
  }
  // Success would promise that the old key is refused everywhere, which is not yet known.
  throw new AppError(
    'service_unavailable',
    'The change is saved, but not every process of the gateway has confirmed it yet. Send the request again.',
    { retryAfterSeconds: 1 },
  )
}

/** Null for a message that this version does not understand. */
export function parseKeyChange(payload: unknown): KeyChange | null {
  if (typeof payload !== 'object' || payload === null) return null
  if ('keyId' in payload && typeof payload.keyId === 'string' && isUuid(payload.keyId)) {
    return { keyId: payload.keyId }
  }
  if ('accountId' in payload && typeof payload.accountId === 'string' && isUuid(payload.accountId)) {
    return { accountId: payload.accountId }
  }
  return null
}
