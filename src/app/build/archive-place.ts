import { join } from 'node:path'
import type { ArchivePlace } from '../../storage/archive/archive-store.ts'
import type { Config } from '../settings/config.ts'
import { readAwsKeys } from './read-aws-keys.ts'

/** Archives are in the bucket of files, or in the data directory. */
export function archivePlaceOf(config: Config): ArchivePlace {
  const { mediaStoreUrl, awsRegion, dataDir } = config
  if (mediaStoreUrl === null) return { directory: join(dataDir, 'archive') }
  return { bucket: { url: mediaStoreUrl, region: awsRegion, credentials: readAwsKeys(config) } }
}
