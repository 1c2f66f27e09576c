/** By what the usage of all accounts is added up for each day. Sums of different grains are rows of one table. */
export interface GatewayGrain {
  /** In the column `grain`. */
  readonly name: string
  readonly columns: readonly GatewayColumn[]
  /** Durations are added up too. */
  readonly hasLatency: boolean
}

export const GATEWAY_COLUMNS = ['account_id', 'key_id', 'model', 'provider', 'environment'] as const
export type GatewayColumn = (typeof GATEWAY_COLUMNS)[number]

/** Those with the fewest rows come first. */
export const GATEWAY_GRAINS: readonly GatewayGrain[] = [
  { name: 'model', columns: ['model', 'provider', 'environment'], hasLatency: true },
  { name: 'account', columns: ['account_id', 'environment'], hasLatency: true },
  { name: 'key', columns: ['account_id', 'key_id', 'environment'], hasLatency: true },
  {
    name: 'account,model',
    columns: ['account_id', 'model', 'provider', 'environment'],
    hasLatency: false,
  },
]
