/** In which form a webhook is called: with our own event, or with a message for an incoming webhook of a chat program. */
export const WEBHOOK_FORMS = ['parkway', 'slack', 'teams'] as const
export type WebhookForm = (typeof WEBHOOK_FORMS)[number]
