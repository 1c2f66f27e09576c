/** What changes a balance, in the order of a statement. */
export const MOVEMENT_NAMES = {
  opening_balance: 'Opening balance',
  top_ups: 'Top-ups',
  promotional_credit: 'Promotional credit',
  charges: 'Charges for requests',
  costs_owed: 'Costs above the balance',
  refunds: 'Refunds',
  adjustments: 'Adjustments by the operator',
  expired_credit: 'Expired credit',
  closing_balance: 'Closing balance',
} as const
