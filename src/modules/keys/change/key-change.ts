import { AppError } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'

/** A message between processes, so that a revoked key stops working on all of them. */
export type KeyChange = { readonly keyId: string } | { readonly accountId: string }

export type KeyChangeBus = Pick<
  MessageBus,
  'subscribe' | 'publishAndConfirm' | 'onConnectionLost' | 'isConnected'
>

export const KEY_CHANGE_TOPIC = 'keys.changed'

const CONFIRM_TIMEOUT_MS = 2000
const ANNOUNCE_ATTEMPTS_MAX = 2

/** Returns after every process has dropped the changed key or account from memory. A repeated announcement is harmless. */
export async function announceKeyChange(messageBus: KeyChangeBus, change: KeyChange): Promise<void> {
  let cause: unknown
  for (let attempt = 1; attempt <= ANNOUNCE_ATTEMPTS_MAX; attempt += 1) {
    try {
      const { confirmed } = await messageBus.publishAndConfirm(KEY_CHANGE_TOPIC, formatKeyChange(change), {
        timeoutMs: CONFIRM_TIMEOUT_MS,
      })
      if (confirmed) return
    } catch (error) {
      cause = error
    }
  }
  // A success response would promise that all processes refuse the old key, which is not confirmed.
  throw new AppError(
    'service_unavailable',
    'The change is saved, but not every process of the gateway has confirmed it yet. Send the request again.',
    { retryAfterSeconds: 1, cause },
  )
}

function formatKeyChange(change: KeyChange): string {
  return 'keyId' in change ? `key ${change.keyId}` : `account ${change.accountId}`
}

/** Returns null for a message that this version does not understand. */
export function parseKeyChange(payload: string): KeyChange | null {
  const [subject, id = ''] = payload.split(' ', 2)
  if (!isUuid(id)) return null
  if (subject === 'key') return { keyId: id }
  return subject === 'account' ? { accountId: id } : null
}
