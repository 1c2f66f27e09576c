import { toTimestamp } from '../../../kernel/clock.ts'
import type { Notice } from '../../../modules/billing/billing.ts'
import { accountAddress, toAddressForm } from './alert-forms.ts'

/** What an address gets for a notice of the account. */
export function noticeToAddress(
  { id, type, data, subject, text, createdAtMs }: Notice,
  url: string,
  settings: Parameters<typeof accountAddress>[1],
): object {
  // In OpenAI's form, which clients of batches know.
  if (type.startsWith('batch.'))
    return {
      id: `evt_${id.replaceAll('-', '')}`,
      object: 'event',
      created_at: Math.floor(createdAtMs / 1000),
      type,
      data,
    }
  const createdAt = toTimestamp(createdAtMs)
  const event = { type, timestamp: createdAt, data: { id, ...data, created_at: createdAt } }
  return toAddressForm({ subject, text, event }, accountAddress(url, settings))
}
