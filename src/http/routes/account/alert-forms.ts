import type { WebhookForm } from '../../../kernel/webhook-form.ts'
import type { AlertSettings } from '../../../modules/budget-alerts/budget-alerts.ts'

/** Something that an account is told, for people and for programs. */
export interface Told {
  readonly subject: string
  readonly text: string
  /** Our signed event. */
  readonly event: object
}

/** What an address gets: a mail, a message in the form of a chat program, or our event. */
export function toAddressForm(
  { subject, text, event }: Told,
  { url, form }: { readonly url: string; readonly form: WebhookForm },
): object {
  if (url.startsWith('mailto:')) return { subject, text }
  if (form === 'slack') return { text: escapeForSlack(text) }
  if (form === 'teams') return { type: 'message', attachments: [adaptiveCard(text)] }
  return event
}

/** Slack reads `<!channel>` and `<https://…|text>` as commands. Texts contain names that anybody with a key chose. */
function escapeForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** The form of an address of the account. An address that is not in the settings any more gets our event. */
export function accountAddress(
  url: string,
  { webhookUrl, webhookForm }: Pick<AlertSettings, 'webhookUrl' | 'webhookForm'>,
): { url: string; form: WebhookForm } {
  return { url, form: url === webhookUrl ? webhookForm : 'parkway' }
}

/** As incoming webhooks of Microsoft Teams take it. */
function adaptiveCard(text: string): object {
  return {
    contentType: 'application/vnd.microsoft.card.adaptive',
    content: {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [{ type: 'TextBlock', text, wrap: true }],
    },
  }
}
