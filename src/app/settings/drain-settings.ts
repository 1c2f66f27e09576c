import { integerSetting } from './setting.ts'

const MEBIBYTE = 1024 * 1024

/** Limits for reading answers to their end after the client disconnected, because the vendor bills them: see docs/pricing.md. */
export const DRAIN_SETTINGS = {
  drainMsMax: integerSetting(
    {
      environment: 'PARKWAY_DRAIN_MS_MAX',
      description:
        'How long an answer is read to its usage after its client left; then the most that it can cost is charged.',
    },
    { default: 600_000, minimum: 0, maximum: 3_600_000 },
  ),
  drainBytesMax: integerSetting(
    {
      environment: 'PARKWAY_DRAIN_BYTES_MAX',
      description: 'How many bytes of a stream are read after its client left.',
    },
    { default: 16 * MEBIBYTE, minimum: 0, maximum: 256 * MEBIBYTE },
  ),
  drainsMax: integerSetting(
    {
      environment: 'PARKWAY_DRAINS_MAX',
      description: 'How many answers without a client a process reads at once.',
    },
    { default: 500, minimum: 0, maximum: 100_000 },
  ),
  drainsPerAccountMax: integerSetting(
    {
      environment: 'PARKWAY_DRAINS_PER_ACCOUNT_MAX',
      description:
        'How many of them may be of one account. At the limit it gets no answers of models that reason.',
    },
    { default: 50, minimum: 0, maximum: 100_000 },
  ),
} as const
