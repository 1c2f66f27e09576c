import { invalidValue } from '../../../kernel/app-error.ts'
import { parseWebAddress } from '../../../kernel/parse-web-address.ts'
import { OutboundRefused } from '../../../outbound/outbound.ts'

/** What the operator allows webhooks to call. */
export interface WebhookHosts {
  /** Whether the host may be called over plain http. */
  isAllowed(url: URL): boolean
  /** Throws `OutboundRefused` for a host that is not public and that the operator has not allowed. */
  requirePublic(url: URL): Promise<void>
}

const URL_LENGTH_MAX = 2_048

/**
 * Refuses an address that could never be called when a client gives it. Allows https, and http to hosts that the operator
 * permits. Deliveries check again, because a name may lead elsewhere by then.
 */
export async function checkWebhookUrl(
  text: string,
  hosts: WebhookHosts,
  param = 'webhook_url',
): Promise<void> {
  const url = parseWebAddress(text)
  if (url === null || text.length > URL_LENGTH_MAX || url.username !== '' || url.password !== '')
    throw invalidValue(param, `${param} must be an address such as https://example.com/hook.`)
  if (url.protocol !== 'https:' && !hosts.isAllowed(url))
    throw invalidValue(param, `${param} must begin with https://.`)
  try {
    await hosts.requirePublic(url)
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error
    throw invalidValue(param, `${param} must lead to a public host.`)
  }
}
