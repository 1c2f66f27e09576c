/** By what usage is added up, besides its account. Sums of different grains are rows of one table. */
export interface Grain {
  /** In the column `grain`. */
  readonly name: string
  /** By hour, otherwise by day. */
  readonly isOfHours: boolean
  /** By label, and only what has one. */
  readonly isOfLabels: boolean
  readonly columns: readonly ('key_id' | 'model' | 'operation')[]
}

const BY_KEY = ['key_id', 'operation'] as const
const BY_MODEL = ['model', 'operation'] as const
const BY_BOTH = ['key_id', 'model', 'operation'] as const

/** Hours by key and model are the rollups themselves, and reports by label are mostly of days. The smallest come first. */
export const GRAINS: readonly Grain[] = [
  { name: 'hour:model', isOfHours: true, isOfLabels: false, columns: BY_MODEL },
  { name: 'hour:key', isOfHours: true, isOfLabels: false, columns: BY_KEY },
  ...[false, true].flatMap((isOfLabels) =>
    [
      { name: 'model', columns: BY_MODEL },
      { name: 'key', columns: BY_KEY },
      { name: 'key,model', columns: BY_BOTH },
    ].map(({ name, columns }) => ({
      name: `day:${isOfLabels ? 'label,' : ''}${name}`,
      isOfHours: false,
      isOfLabels,
      columns,
    })),
  ),
]
