/** Descriptions of fields of accounts, usage and payments. Keys are `field` or `Schema.field`. */
export const ACCOUNT_FIELD_NOTES: Readonly<Record<string, string>> = {
  // Usage
  operation: 'What was asked: `chat`, `embedding`, `tts` and so on.',
  averages: 'The averages of the range.',
  cost_usd_per_request: 'US dollars a request.',
  tokens_per_request: 'Tokens a request.',
  requests_per_hour: 'Requests an hour.',
  cost_usd_per_hour: 'US dollars an hour.',
  granularity: 'The length of a bucket: `hour` or `day`.',
  by: 'What the figures are grouped by.',
  other: 'What the remaining groups come to together.',
  groups: 'How many groups that is.',
  model_id: 'The id of the model.',
  share: 'Its part of the whole, from 0 to 1.',

  // Budgets
  period: 'The period of the budget: `day` or `month`.',
  period_start: 'Where the period begins, in UTC.',
  period_end: 'Where the period ends, in UTC.',
  budgets: 'The budgets of the account.',
  limit_usd: 'The limit in US dollars.',
  spent_usd: 'What is spent of it, in US dollars.',
  monthly_usd: 'The budget of a month in US dollars. `null`: none.',
  monthly_spent_usd: 'What is spent in the current month.',
  daily_usd: 'The budget of a day in US dollars. `null`: none.',
  daily_spent_usd: 'What is spent on the current day.',

  // Payments
  presets_usd: 'Amounts to offer.',
  min_usd: 'The smallest amount.',
  max_usd: 'The largest amount.',
  publishable_key: 'The public key of the payment provider, for its scripts. `null`: none needed.',
  unavailable_reason: 'Why nothing can be bought. `null` when it can.',
  receipt_url: 'The receipt of the payment provider.',
  redeemed_at: 'When the code was redeemed.',
  redemptions_max: 'How often the code can be redeemed in all.',
  redemptions_per_account_max: 'How often one account can redeem the code.',
  credit_expires_in_days: 'After how many days the credit expires. `null`: never.',
  disabled_at: 'When the code was disabled. `null`: it is not.',

  // The operator
  actor: 'Who did it: the account and the key.',
  target: 'What it was done to.',
  checks: 'What was checked, by name.',
}
