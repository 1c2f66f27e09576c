import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../src/storage/testing/test-database.ts'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startHub } from '../upstreams/hub-server.ts'
import { deploy, readEvents, waitForStatus } from './deploy.ts'
import { SCRIPTED } from './local-stage.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const HELD_AFTER = 100_000

test('the start of a gated model is continued by another process, with the token of the deployment', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-shared-'))
  onTestFinished(() => removeDirectory(directory))
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const hub = await startHub({
    'acme/gated': {
      files: { 'tiny-Q4_K_M.gguf': createTinyGguf() },
      info: { gated: 'auto' },
      token: 'hf_right',
    },
  })
  onTestFinished(() => hub.close())
  const options = {
    connectionString: database.connectionString,
    settings: {
      PARKWAY_DATA_DIR: directory,
      PARKWAY_GPU_DRIVER: 'local',
      PARKWAY_LOCAL_GPU: JSON.stringify({ ...SCRIPTED, command: [...SCRIPTED.command, '{model_file}'] }),
      PARKWAY_LEASE_MS: '1000',
      PARKWAY_MODEL_CACHE_FREE_GB: '0',
      HF_ENDPOINT: hub.url,
      PARKWAY_OUTBOUND_ALLOW: hub.cdnHost,
    },
  }
  const first = await startTestGateway(options)
  // The header is read first, when the deployment is created. The download comes after it.
  hub.faults.push({}, { holdAfter: HELD_AFTER })
  const id = await deploy(first, {
    gpu_tier: 'cpu_local',
    huggingface_id: 'acme/gated',
    hf_token: 'hf_right',
  })
  await eventually(async () =>
    expect((await first.request('GET', `/v1/deployments/${id}`)).body.progress).toBeGreaterThan(0),
  )
  await first.close()
  const second = await startTestGateway(options)
  onTestFinished(() => second.close())
  await waitForStatus(second, id, 'running')
  const events = await readEvents(second, id)
  expect(events.filter(({ type }) => type === 'creating')).toHaveLength(1)
  expect(hub.requests.map(({ range }) => range)).toContain(`bytes=${HELD_AFTER}-`)
  await second.request('DELETE', `/v1/deployments/${id}`)
  await eventually(async () =>
    expect((await readEvents(second, id)).map(({ to }) => to)).toContain('deleted'),
  )
})
