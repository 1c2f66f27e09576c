import { booleanSetting } from './setting.ts'

/** Settings of archives and receipts. */
export const ARCHIVE_SETTINGS = {
  archive: booleanSetting(
    {
      environment: 'PARKWAY_ARCHIVE',
      description:
        'Writes closed months of single requests and of the ledger to Parquet files before they are dropped: see [growth](growth.md#archives).',
    },
    false,
  ),
  receipts: booleanSetting(
    {
      environment: 'PARKWAY_RECEIPTS',
      description:
        'Signs what every account was charged a day, so that bills can be checked without trusting the database: see [receipts](receipts.md).',
    },
    true,
  ),
} as const
