import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { sweepExports } from '../../src/modules/exports/exports.ts'
import { registerSinks } from '../../src/modules/exports/register-sinks.ts'
import { ALL_TAKEN, type ExportSink } from '../../src/exports/export-sink.ts'
import { eventually } from '../support/eventually.ts'
import { createExportStage, startExporter, type ExportStage } from './export-stage.ts'

let stage: ExportStage
beforeAll(async () => {
  stage = await createExportStage()
})
afterEach(async () => {
  for (const table of ['export_sinks', 'export_queue', 'borrowers'])
    await stage.database.query(`DELETE FROM ${table}`)
})
afterAll(() => stage.close())

const KEPT_MS = 3_600_000
const account = createId()
const queued = async (): Promise<number> => (await stage.database.query('SELECT FROM export_queue')).length

function sinkThat(deliver: ExportSink['deliver']): () => ExportSink {
  return () => ({ requestsMax: 10, bytesMax: 100_000, collectMs: 0, deliver, close: async () => {} })
}

test('nothing is queued while there is no sink', async () => {
  await stage.write([account, account])
  expect(await queued()).toBe(0)
})

test('what waits too long is skipped, and said loudly', async () => {
  await stage.register('behind')
  await stage.write([account, account])
  await stage.database.query(`UPDATE export_queue SET queued_at = now() - interval '2 hours'`)
  await stage.write([account])
  const errors: unknown[] = []
  const skipped: [string, number][] = []
  await sweepExports({
    database: stage.database,
    keptMs: KEPT_MS,
    logger: { ...silentLogger, error: (values: object) => void errors.push(values) },
    onSkipped: (sink, requests) => skipped.push([sink, requests]),
  })
  expect(await stage.state('behind')).toMatchObject({ skipped: 2, waiting: 1 })
  expect([errors, skipped]).toEqual([[{ sink: 'behind', requests: 2 }], [['behind', 2]]])
  expect(await queued()).toBe(1)
})

test('only what every sink has confirmed is deleted', async () => {
  await stage.register('quick', 'slow')
  await stage.write([account, account, account])
  await stage.database.query(
    `UPDATE export_sinks SET position = (SELECT min(number) FROM export_queue) WHERE name = 'slow'`,
  )
  await stage.database.query(
    `UPDATE export_sinks SET position = (SELECT max(number) FROM export_queue) WHERE name = 'quick'`,
  )
  await sweepExports({ database: stage.database, keptMs: KEPT_MS, logger: silentLogger })
  expect(await queued()).toBe(2)
  expect(await stage.state('slow')).toMatchObject({ skipped: 0, waiting: 2 })
})

test('a sink that nobody has in the settings any more is forgotten with its requests', async () => {
  await stage.register('gone')
  await stage.write([account])
  await stage.database.query(`UPDATE export_sinks SET seen_at = now() - interval '2 hours'`)
  await sweepExports({ database: stage.database, keptMs: KEPT_MS, logger: silentLogger })
  await expect(stage.state('gone')).rejects.toThrow('no sink')
  expect(await queued()).toBe(0)
})

test('a sink begins only when every process queues what it writes', async () => {
  await stage.database.query('UPDATE installation SET processes_settled_at = now()')
  const older = createId()
  await stage.database.query(
    `INSERT INTO borrowers (id, writer, expires_at, capabilities) VALUES ($1, 7, now() + interval '1 hour', '{}')`,
    [older],
  )
  await registerSinks(stage.database, ['late'], silentLogger)
  await expect(stage.state('late')).rejects.toThrow('no sink')
  await stage.database.query('UPDATE borrowers SET closed_at = now() WHERE id = $1', [older])
  await registerSinks(stage.database, ['late'], silentLogger)
  expect(await stage.state('late')).toMatchObject({ waiting: 0, sent: 0 })
})

test('one of two processes sends to a sink, and the other one goes on when it stops', async () => {
  await stage.register('shared')
  let atOnce = 0
  let atOnceMax = 0
  const received: string[] = []
  const open = sinkThat(async ({ items }) => {
    atOnce += 1
    atOnceMax = Math.max(atOnceMax, atOnce)
    await new Promise((resolve) => void setTimeout(resolve, 5))
    received.push(...items.map(({ request }) => request.request_id))
    atOnce -= 1
    return ALL_TAKEN
  })
  const written = await stage.write(Array.from({ length: 40 }, () => account))
  const one = await startExporter(stage.database, { shared: open })
  const other = await startExporter(stage.database, { shared: open })
  await eventually(() => expect(received.length).toBeGreaterThan(10))
  await one.close()
  written.push(...(await stage.write([account, account])))
  await eventually(() => expect(received).toEqual(written.map((id) => `req_${id.replaceAll('-', '')}`)))
  expect(atOnceMax).toBe(1)
  await other.close()
})

test('a request that the log does not have any more is counted, and the next ones are sent', async () => {
  await stage.register('holes')
  const [lost = '', kept = ''] = await stage.write([account, account])
  await stage.database.query('DELETE FROM usage_records WHERE id = $1', [lost])
  const received: string[] = []
  const running = await startExporter(stage.database, {
    holes: sinkThat(async ({ items }) => {
      received.push(...items.map(({ request }) => request.request_id))
      return ALL_TAKEN
    }),
  })
  await eventually(async () =>
    expect(await stage.state('holes')).toMatchObject({ sent: 1, skipped: 1, waiting: 0 }),
  )
  expect(received).toEqual([`req_${kept.replaceAll('-', '')}`])
  await running.close()
})
