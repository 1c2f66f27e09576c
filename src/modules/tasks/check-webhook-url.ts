import { invalidValue } from '../../kernel/app-error.ts'
import { parseWebAddress } from '../../kernel/parse-web-address.ts'

const URL_LENGTH_MAX = 2_048

/** Refuses at once what could never be told: by https, or by http to a host the operator allows. */
export function checkWebhookUrl(text: string, isAllowedHost: (url: URL) => boolean): void {
  const url = parseWebAddress(text)
  if (url === null || text.length > URL_LENGTH_MAX || url.username !== '' || url.password !== '')
    throw invalidValue('webhook_url', 'webhook_url must be an address such as https://example.com/hook.')
  if (url.protocol === 'https:' || isAllowedHost(url)) return
  throw invalidValue('webhook_url', 'webhook_url must begin with https://.')
}
