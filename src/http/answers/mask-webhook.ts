/**
 * What people see of a webhook's address if they may not change it. Whoever knows the address of a Slack or Teams channel can write there. Addresses of
 * mail stay as they are.
 */
export function maskWebhook(url: string): string {
  if (url.startsWith('mailto:')) return url
  const parsed = URL.parse(url)
  return parsed === null ? '…' : `${parsed.origin}/…`
}
