import { Webhook } from 'standardwebhooks'
import type { WebhookSecrets } from './webhook-secret.ts'

interface SignedMessage {
  readonly accountId: string
  readonly id: string
  readonly atMs: number
  readonly body: string
}

/** The headers of a request to an address of an account, signed with its secrets. */
export async function signWebhook(
  webhookSecrets: Pick<WebhookSecrets, 'readSigning'>,
  { accountId, id, atMs, body }: SignedMessage,
): Promise<Record<string, string>> {
  const secrets = await webhookSecrets.readSigning(accountId)
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, new Date(atMs), body))
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / 1_000)),
    'webhook-signature': signatures.join(' '),
    'user-agent': 'Parkway-Webhooks/1',
  }
}
