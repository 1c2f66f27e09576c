import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { readMediaSecret } from '../../src/modules/media/media-secret.ts'
import { openMediaStage } from '../../src/modules/media/testing/media-stage.ts'
import { sampleFile } from '../../src/modules/media/testing/sample-files.ts'
import { backupDatabase } from '../../src/storage/backup/backup.ts'
import { createS3Store } from '../../src/storage/media-store/s3-store.ts'
import { startS3Server, type S3Server } from '../../src/storage/media-store/testing/s3-server.ts'
import { restoreDatabase } from '../../src/storage/backup/restore.ts'
import { createEmptyDatabase } from '../../src/storage/testing/test-database.ts'
import { wholeAccount } from '../../src/storage/place.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { removeDirectory } from '../support/remove-directory.ts'

let s3: S3Server
let directory: string

beforeAll(async () => {
  s3 = await startS3Server()
  directory = await mkdtemp(join(tmpdir(), 'parkway-media-'))
})

afterAll(async () => {
  await s3.close()
  await removeDirectory(directory)
})

it('files in a bucket are served like files in a directory', async () => {
  const gateway = await startTestGateway({
    settings: {
      MEDIA_STORE_URL: s3.storeUrl,
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    },
  })
  const store = createS3Store({ url: s3.storeUrl, credentials: s3.credentials })
  const stage = await openMediaStage({ connectionString: gateway.connectionString, store })
  const bytes = sampleFile('mp4', 9_000_000)
  const { media, accountId } = stage
  const file = await media.keep({
    place: wholeAccount(accountId),
    purpose: 'result',
    kind: 'video',
    source: bytes,
  })
  const path = new URL(media.addressOf(file)).pathname
  const whole = await gateway.fetch('GET', path, { key: null })
  expect(whole.headers.get('content-type')).toBe('video/mp4')
  expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true)
  const part = await gateway.fetch('GET', path, { key: null, headers: { range: 'bytes=8388600-8388619' } })
  expect(part.status).toBe(206)
  expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(8_388_600, 8_388_620))).toBe(true)
  await media.remove([file.id])
  expect((await gateway.request('GET', path, { key: null })).status).toBe(404)
  expect(await store.exists(file.id)).toBe(false)
  await stage.close()
  await gateway.close()
})

it('addresses stay valid when the database is restored from a backup', async () => {
  const stage = await openMediaStage({ directory })
  const { media, accountId } = stage
  const { id } = await media.keep({
    place: wholeAccount(accountId),
    purpose: 'result',
    kind: 'image',
    source: sampleFile('png'),
  })
  const token = media.addressOf({ id }).split('/media/')[1] ?? ''
  const file = join(directory, 'parkway.backup')
  await backupDatabase({
    connectionString: stage.connectionString,
    file,
    overwrite: true,
    logger: silentLogger,
  })
  const copy = await createEmptyDatabase()
  await restoreDatabase({ connectionString: copy.connectionString, file })
  const restored = await openMediaStage({ connectionString: copy.connectionString, directory })
  expect(await restored.media.openAddress(token)).toMatchObject({ id, contentType: 'image/png' })
  await restored.close()
  await copy.drop()
  await stage.close()
})

it('processes that start at once on a new database agree on its secret', async () => {
  const stage = await openMediaStage({ directory })
  await stage.database.query('DELETE FROM media_secret')
  const secrets = await Promise.all(Array.from({ length: 8 }, () => readMediaSecret(stage.database)))
  expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(1)
  await stage.close()
})
