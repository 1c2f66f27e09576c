import { join } from 'node:path'
import type { Clock } from '../../kernel/clock.ts'
import { createMedia, type Media } from '../../modules/media/media.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Database } from '../../storage/database.ts'
import type { Installation } from '../../storage/installation.ts'
import { createFilesystemStore } from '../../storage/media-store/filesystem-store.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import { protectFiles } from '../../storage/media-store/protect-files.ts'
import {
  reportStoreFailures,
  type StoreObserver,
  type WatchedStore,
} from '../../storage/media-store/report-store-failures.ts'
import { createS3Store } from '../../storage/media-store/s3-store.ts'
import type { QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Config } from '../settings/config.ts'
import { readAwsKeys } from './read-aws-keys.ts'

interface MediaParts {
  readonly database: Database
  readonly outbound: Outbound
  readonly clock: Clock
  readonly machineClock: Clock
  readonly logger: GatewayLogger
  readonly ownUrl: () => string
  readonly quotaOf: QuotaOf
  readonly store: WatchedStore
  readonly installation: Installation
}

const HOUR_MS = 60 * 60_000

export function buildMedia(config: Config, parts: MediaParts): Promise<Media> {
  return createMedia({
    ...parts,
    isSweeping: !parts.installation.isPaused,
    publicUrl: config.publicUrl,
    addressMs: config.mediaAddressHours * HOUR_MS,
    resultRetentionMs: config.resultRetentionDays * 24 * HOUR_MS,
  })
}

interface StoreParts extends Pick<MediaParts, 'machineClock' | 'logger' | 'installation'> {
  readonly metrics: StoreObserver
}

/** The store of all files. The media close it. */
export function buildStore(config: Config, parts: StoreParts): WatchedStore {
  return reportStoreFailures(protectFiles(openMediaStore(config), parts.installation), {
    clock: parts.machineClock,
    logger: parts.logger,
    observer: parts.metrics,
  })
}

function openMediaStore(config: Config): MediaStore {
  const { mediaStoreUrl, awsRegion } = config
  if (mediaStoreUrl === null) return createFilesystemStore({ directory: join(config.dataDir, 'media') })
  return createS3Store({ url: mediaStoreUrl, region: awsRegion, credentials: readAwsKeys(config) })
}
