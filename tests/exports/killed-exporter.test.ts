import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { spawnScript, type Script } from '../storage/spawn-script.ts'
import { eventually } from '../support/eventually.ts'
import { longOr } from '../support/long-or.ts'
import { createExportStage, type ExportStage } from './export-stage.ts'
import { startKafkaBroker, type KafkaBroker } from './kafka-broker.ts'

const KILLS = longOr(10, 2)
const WRITERS = 3
const AWAY_MS = longOr(600_000, 300)

let stage: ExportStage
let kafka: KafkaBroker
beforeAll(async () => {
  stage = await createExportStage()
  kafka = await startKafkaBroker()
})
afterAll(async () => {
  await stage.close()
  await kafka.stop()
})

const spawnExporter = async (): Promise<Script> => {
  const script = spawnScript(new URL('export-until-killed.ts', import.meta.url), [
    stage.connectionString,
    kafka.address,
  ])
  await script.read()
  return script
}

test('a broker that is away under load and exporters that are killed lose nothing, and accounts keep their order', async () => {
  await stage.register('stream')
  const accounts = Array.from({ length: WRITERS }, () => createId())
  const written = accounts.map((): string[] => [])
  const work = { isWriting: true }
  // Each account writes its requests one after another, so that their order is known.
  const writing = accounts.map(async (account, index) => {
    while (work.isWriting) {
      written[index]?.push(...(await stage.write([account, account])))
      await delay(5)
    }
  })
  const produced = (): number => kafka.records.length
  for (let kill = 0; kill < KILLS; kill += 1) {
    const exporter = await spawnExporter()
    const before = produced()
    await eventually(() => expect(produced()).toBeGreaterThan(before))
    if (kill % 2 === 0) {
      await kafka.stop()
      await delay(AWAY_MS / KILLS)
      await kafka.start()
      const back = produced()
      await eventually(() => expect(produced()).toBeGreaterThan(back))
    } else {
      // It has the batch and never says so: the next process sends it again.
      kafka.mood = 'silent'
      const silent = produced()
      await eventually(() => expect(produced()).toBeGreaterThan(silent))
    }
    await exporter.kill()
    kafka.mood = 'keep'
  }
  work.isWriting = false
  await Promise.all(writing)
  const last = await spawnExporter()
  await eventually(async () => expect(await stage.state('stream')).toMatchObject({ waiting: 0 }))
  await last.kill()
  expect(orderByAccount()).toEqual(
    Object.fromEntries(
      accounts.map((account, index) => [
        account,
        (written[index] ?? []).map((id) => `req_${id.replaceAll('-', '')}`),
      ]),
    ),
  )
})

/** Request ids of each account in the order of their first delivery, as a reader gets who drops what it has had. */
function orderByAccount(): Record<string, string[]> {
  const received: Record<string, string[]> = {}
  const highest = new Map<string, number>()
  for (const { key, value } of kafka.records) {
    const { number, request_id: id } = JSON.parse(value)
    if (number <= (highest.get(key) ?? 0)) continue
    highest.set(key, number)
    ;(received[key] ??= []).push(id)
  }
  return received
}
