import { isAllowedHostEntry } from '../../outbound/outbound.ts'
import { parseS3Url } from '../../storage/media-store/s3-store.ts'
import { integerSetting, listSetting, optionalTextSetting } from './setting.ts'

/** Settings of files: where they are stored, for how long, and from where the gateway may fetch them. */
export const MEDIA_SETTINGS = {
  mediaStoreUrl: optionalTextSetting(
    {
      environment: 'MEDIA_STORE_URL',
      description: 'A bucket for files, instead of the data directory: see [media](media.md).',
    },
    { allowed: 's3://bucket/prefix?endpoint=https://…&region=…', isAllowed: isStoreUrl },
  ),
  awsAccessKeyId: optionalTextSetting({
    environment: 'AWS_ACCESS_KEY_ID',
    description: "For the bucket; those of the machine's role without it.",
    isSecret: true,
  }),
  awsSecretAccessKey: optionalTextSetting({
    environment: 'AWS_SECRET_ACCESS_KEY',
    description: 'Belongs to the access key id.',
    isSecret: true,
  }),
  awsSessionToken: optionalTextSetting({
    environment: 'AWS_SESSION_TOKEN',
    description: 'Belongs to temporary access keys.',
    isSecret: true,
  }),
  awsRegion: optionalTextSetting({
    environment: 'AWS_REGION',
    description: 'Of the bucket, where its URL names none.',
  }),
  mediaAddressHours: integerSetting(
    {
      environment: 'PARKWAY_MEDIA_ADDRESS_HOURS',
      description: 'How long the address of a file is good.',
    },
    { default: 24, minimum: 1, maximum: 720 },
  ),
  resultRetentionDays: integerSetting(
    {
      environment: 'PARKWAY_RESULT_RETENTION_DAYS',
      description: 'How long the results of tasks and their files are kept.',
    },
    { default: 30, minimum: 1, maximum: 3_650 },
  ),
  outboundAllow: listSetting(
    {
      environment: 'PARKWAY_OUTBOUND_ALLOW',
      description: 'Private hosts that clients may name in addresses of files and webhooks.',
    },
    {
      allowed: 'hosts, addresses or networks such as files.internal:9000 or 10.0.0.0/8',
      isAllowed: isAllowedHostEntry,
    },
  ),
} as const

function isStoreUrl(text: string): boolean {
  try {
    parseS3Url(text)
    return true
  } catch {
    return false
  }
}
