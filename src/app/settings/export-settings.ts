import { parseExportSettings } from '../../exports/export-settings.ts'
import { integerSetting, objectSetting } from './setting.ts'

/** Settings of exports to systems of the operator. */
export const EXPORT_SETTINGS = {
  exports: objectSetting(
    {
      environment: 'PARKWAY_EXPORTS',
      description:
        'Where requests are exported to: buckets, OTLP collectors, Kafka brokers, webhooks: see [exports](exports.md).',
      isSecret: true,
    },
    'a JSON object as in docs/exports.md',
    parseExportSettings,
  ),
  exportKeptHours: integerSetting(
    {
      environment: 'PARKWAY_EXPORT_KEPT_HOURS',
      description:
        'How long requests wait for an export that does not take them. Then they are skipped, and an error is logged.',
    },
    { default: 72, minimum: 1, maximum: 720 },
  ),
} as const
