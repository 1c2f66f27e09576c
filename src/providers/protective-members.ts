/** Members that limit what is spent, who is asked or what is kept. They are honoured, or the request is refused. */
export const PROTECTIVE_MEMBERS: readonly string[] = [
  'pii_mode',
  'protection_level',
  'limit_usd',
  'budget_usd',
  'budget_limit_usd',
  'allowed_models',
]
