import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { createOutbound } from '../../../outbound/outbound.ts'
import { noQuota } from '../../../storage/stored-bytes/stored-bytes.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { createFilesystemStore } from '../../../storage/media-store/filesystem-store.ts'
import type { MediaStore } from '../../../storage/media-store/media-store.ts'
import { reportStoreFailures } from '../../../storage/media-store/report-store-failures.ts'
import { createTestDatabase } from '../../../storage/testing/test-database.ts'
import { createMedia, type Media } from '../media.ts'

export interface MediaStage {
  readonly media: Media
  readonly connectionString: string
  readonly database: Database
  readonly store: MediaStore
  readonly accountId: string
  /** Returns the names of all files on the disk, including unfinished ones. */
  listFiles(): Promise<string[]>
  /** Opens another process on the same database and directory. */
  openAnother(): Promise<Media>
  close(): Promise<void>
}

interface StageOptions {
  /** The database and directory of a running gateway. The default is a new one. */
  readonly connectionString?: string
  readonly directory?: string
  readonly store?: MediaStore
  readonly baseUrl?: string
  readonly publicUrl?: string
  readonly nowMs?: () => number
}

/** Media with a real database and a real directory. */
export async function openMediaStage(options: StageOptions = {}): Promise<MediaStage> {
  const { nowMs = Date.now, baseUrl = 'http://gateway.test' } = options
  const testDatabase = options.connectionString === undefined ? await createTestDatabase() : null
  const connectionString = options.connectionString ?? testDatabase?.connectionString ?? ''
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'parkway-media-')))
  const database = connectDatabase({
    connectionString,
    poolSize: 4,
    statementTimeoutMs: 10_000,
    prepareStatements: true,
    logger: silentLogger,
  })
  const store = options.store ?? createFilesystemStore({ directory })
  const watched = reportStoreFailures(store, {
    clock: fakeClock(nowMs),
    logger: silentLogger,
    observer: { failed: () => {}, changed: () => {} },
  })
  const outbound = createOutbound({ allowedHosts: ['127.0.0.1'] })
  const open = (): Promise<Media> =>
    createMedia({
      database,
      store: watched,
      outbound,
      clock: fakeClock(nowMs),
      machineClock: fakeClock(nowMs),
      logger: silentLogger,
      publicUrl: options.publicUrl ?? null,
      ownUrl: () => baseUrl,
      quotaOf: noQuota,
    })
  const opened = [await open()]

  return {
    media: opened[0] ?? (await open()),
    connectionString,
    database,
    store,
    accountId: createId(),
    async listFiles() {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    },
    async openAnother() {
      const another = await open()
      opened.push(another)
      return another
    },
    async close() {
      for (const media of opened) await media.close()
      await outbound.close()
      await database.close()
      await testDatabase?.drop()
      if (options.directory === undefined)
        await rm(directory, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
    },
  }
}
