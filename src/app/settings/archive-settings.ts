import { booleanSetting } from './setting.ts'

/** Settings of archives. */
export const ARCHIVE_SETTINGS = {
  archive: booleanSetting(
    {
      environment: 'PARKWAY_ARCHIVE',
      description:
        'Writes closed months of single requests and of the ledger to Parquet files before they are dropped: see [growth](growth.md#archives).',
    },
    false,
  ),
} as const
