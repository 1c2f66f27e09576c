import { isRecord } from '../../kernel/is-record.ts'
import { askAccount, type AccountAccess, type VendorBalance } from './vendor-account.ts'

/** `GET /user/balance` at the root of the host: one entry a currency, with amounts as text. */
export async function readDeepSeekBalance(access: AccountAccess): Promise<VendorBalance> {
  const { origin } = new URL(access.baseUrl)
  const answer = await askAccount(access, `${origin}/user/balance`, bearer(access))
  const infos = isRecord(answer) ? answer['balance_infos'] : null
  const info: unknown = Array.isArray(infos) ? infos[0] : null
  if (!isRecord(answer) || !isRecord(info)) throw new Error('it answers no balance')
  return {
    amount: readNumber(info['total_balance']),
    currency: String(info['currency']),
    isExhausted: answer['is_available'] === false,
  }
}

/** `GET /credits`: what was bought and what was used, in dollars. */
export async function readOpenRouterBalance(access: AccountAccess): Promise<VendorBalance> {
  const answer = await askAccount(access, `${access.baseUrl}/credits`, bearer(access))
  const data = isRecord(answer) ? answer['data'] : null
  if (!isRecord(data)) throw new Error('it answers no balance')
  const amount = readNumber(data['total_credits']) - readNumber(data['total_usage'])
  return { amount, currency: 'USD', isExhausted: amount <= 0 }
}

function bearer({ key }: AccountAccess): Record<string, string> {
  return { authorization: `Bearer ${key}` }
}

function readNumber(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number))
    throw new Error('it answers a balance that is no number')
  return number
}
