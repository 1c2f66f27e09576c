import { AppError } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'

/** A message between processes, so that a revoked key stops working on all of them. */
export type KeyChange =
  | { readonly keyId: string }
  /** Of the whole account, or only of the keys and sessions of these people in it. */
  | { readonly accountId: string; readonly userIds?: readonly string[] }

/** More people are announced as their account, so that a message stays within the limit of the bus. */
const ANNOUNCED_PEOPLE_MAX = 100

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
  if ('keyId' in change) return `key ${change.keyId}`
  const { accountId, userIds } = change
  if (userIds === undefined || userIds.length > ANNOUNCED_PEOPLE_MAX) return `account ${accountId}`
  return `people ${accountId} ${userIds.join(',')}`
}

/** Whether a change is about a key with this owner. */
export function isAboutOwner(
  { accountId, userIds }: { accountId: string; userIds?: readonly string[] },
  owner: { readonly accountId: string; readonly userId?: string | null },
): boolean {
  if (owner.accountId !== accountId) return false
  return userIds === undefined || (typeof owner.userId === 'string' && userIds.includes(owner.userId))
}

/** Returns null for a message that this version does not understand. */
export function parseKeyChange(payload: string): KeyChange | null {
  const [subject, id = '', people = ''] = payload.split(' ', 3)
  if (!isUuid(id)) return null
  if (subject === 'key') return { keyId: id }
  if (subject === 'people') {
    const userIds = people.split(',')
    return userIds.every(isUuid) ? { accountId: id, userIds } : null
  }
  return subject === 'account' ? { accountId: id } : null
}
