/**
 * Members that limit spending, the models used, or the data that is stored. A request with one is refused if it cannot be
 * honoured.
 */
export const PROTECTIVE_MEMBERS: readonly string[] = [
  'pii_mode',
  'protection_level',
  'limit_usd',
  'budget_usd',
  'budget_limit_usd',
  'allowed_models',
]
