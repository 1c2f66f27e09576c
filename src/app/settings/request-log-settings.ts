import { choiceSetting, integerSetting } from './setting.ts'

/** Settings of the request log and of stored bodies, and how long requests are kept. */
export const REQUEST_LOG_SETTINGS = {
  failedRequestRetentionDays: integerSetting(
    {
      environment: 'PARKWAY_FAILED_REQUEST_RETENTION_DAYS',
      description: 'How long the request log has requests that were refused or failed without a charge.',
    },
    { default: 30, minimum: 1, maximum: 3650 },
  ),
  usageRetentionMonths: integerSetting(
    {
      environment: 'PARKWAY_USAGE_RETENTION_MONTHS',
      description:
        'How many whole months single requests are kept in usage and in the log. Sums by hour and the ledger stay.',
    },
    { default: 13, minimum: 3, maximum: 1200 },
  ),
  bodyStorage: choiceSetting(
    {
      environment: 'PARKWAY_BODY_STORAGE',
      description:
        'Who may switch on that bodies of requests and answers are stored: nobody (`off`), the `operator`, or also `accounts` for themselves.',
    },
    ['off', 'operator', 'accounts'],
    'operator',
  ),
  bodyRetentionDaysMax: integerSetting(
    {
      environment: 'PARKWAY_BODY_RETENTION_DAYS_MAX',
      description: 'The longest that stored bodies may be kept.',
    },
    { default: 30, minimum: 1, maximum: 3650 },
  ),
  bodyKibMax: integerSetting(
    {
      environment: 'PARKWAY_BODY_KIB_MAX',
      description: 'How much of a body is stored, in KiB. The rest is cut off.',
    },
    { default: 256, minimum: 1, maximum: 16_384 },
  ),
  bodyAccountMibMax: integerSetting(
    {
      environment: 'PARKWAY_BODY_ACCOUNT_MIB_MAX',
      description: 'How much stored bodies of an account may take, compressed, in MiB.',
    },
    { default: 256, minimum: 1, maximum: 1_048_576 },
  ),
}
