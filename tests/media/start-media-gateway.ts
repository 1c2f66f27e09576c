import { mkdtemp } from 'node:fs/promises'
import { wholeAccount } from '../../src/storage/place.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMediaStage, type MediaStage } from '../../src/modules/media/testing/media-stage.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { removeDirectory } from '../support/remove-directory.ts'

export interface MediaGateway extends TestGateway {
  /** A media store like that of a worker: separate, on the same database and directory. */
  readonly stage: MediaStage
  /** Stores a result and returns the path of its address. */
  publish(bytes: Uint8Array, kind: 'image' | 'video' | 'audio', expiresAt?: Date): Promise<string>
}

export async function startMediaGateway(): Promise<MediaGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parkway-media-'))
  const gateway = await startTestGateway({ settings: { PARKWAY_DATA_DIR: dataDir } })
  const stage = await openMediaStage({
    connectionString: gateway.connectionString,
    directory: join(dataDir, 'media'),
    baseUrl: gateway.baseUrl,
  })
  return {
    ...gateway,
    stage,
    async publish(bytes, kind, expiresAt) {
      const { media, accountId } = stage
      const { id } = await media.keep({
        place: wholeAccount(accountId),
        purpose: 'result',
        kind,
        source: bytes,
      })
      return new URL(media.addressOf({ id, ...(expiresAt && { expiresAt }) })).pathname
    },
    async close() {
      await stage.close()
      await gateway.close()
      await removeDirectory(dataDir)
    },
  }
}
