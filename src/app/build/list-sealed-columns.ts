import { SEALED_HUB_TOKENS, SEALED_PREFETCH_TOKENS } from '../../modules/deployments/deployments.ts'
import { SEALED_CLIENT_SECRETS } from '../../modules/directory/directory.ts'
import { SEALED_PROVIDER_SECRETS } from '../../modules/offer/offer.ts'
import { SEALED_RECEIPT_KEYS } from '../../modules/receipts/receipts.ts'
import { SEALED_BODIES } from '../../modules/request-log/request-log.ts'
import { SEALED_CHATS } from '../../modules/saved-chats/saved-chats.ts'
import { SEALED_WEBHOOK_SECRETS } from '../../modules/tasks/tasks.ts'
import type { SealedColumn } from '../../storage/sealed-columns.ts'

/** Everything in the database that is sealed with the gateway's key. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  ...SEALED_PROVIDER_SECRETS,
  SEALED_CLIENT_SECRETS,
  SEALED_HUB_TOKENS,
  SEALED_PREFETCH_TOKENS,
  ...SEALED_WEBHOOK_SECRETS,
  ...SEALED_BODIES,
  ...SEALED_CHATS,
  SEALED_RECEIPT_KEYS,
]
