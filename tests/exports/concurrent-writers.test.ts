import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { ALL_TAKEN, type ExportedItem, type ExportSink } from '../../src/exports/export-sink.ts'
import { eventually } from '../support/eventually.ts'
import { longOr } from '../support/long-or.ts'
import { createExportStage, type ExportStage } from './export-stage.ts'

const WRITERS = 8
const TRANSACTIONS = longOr(400, 40)
const HELD_MS_MAX = 30

let stage: ExportStage
beforeAll(async () => {
  stage = await createExportStage()
})
afterAll(() => stage.close())

/** Keeps everything in memory. */
function collect(items: ExportedItem[]): ExportSink {
  return {
    requestsMax: 50,
    bytesMax: 1_000_000,
    collectMs: 0,
    deliver: async (batch) => {
      items.push(...batch.items)
      return ALL_TAKEN
    },
    close: async () => {},
  }
}

test('nothing is lost or repeated of writers whose commits come in another order than their numbers', async () => {
  await stage.register('memory')
  const items: ExportedItem[] = []
  await stage.start({ memory: () => collect(items) })
  const accounts = Array.from({ length: 5 }, () => createId())
  const written: string[] = []
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const random = createRandom(writer + 1)
      for (let count = 0; count < TRANSACTIONS; count += 1) {
        const owners = accounts.filter(() => random.next() < 0.5)
        // Held open after its numbers were given, so that later ones are committed before; some are undone.
        const ids = stage.write(owners, async () => {
          await delay(random.next() * HELD_MS_MAX)
          if (random.next() < 0.1) throw new Error('undone')
        })
        written.push(...(await ids.catch(() => [])))
      }
    }),
  )
  await eventually(() => expect(items.length).toBeGreaterThanOrEqual(written.length))
  const received = items.map(({ request }) => request.request_id)
  expect(received.toSorted()).toEqual(written.map((id) => `req_${id.replaceAll('-', '')}`).toSorted())
  const numbers = items.map(({ request }) => request.number)
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
})

test('a writer that is held open keeps back only what came after it', async () => {
  await stage.register('patient')
  const items: ExportedItem[] = []
  // Requests of one account would wait for each other at its sums.
  const [account, other] = [createId(), createId()]
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  const { promise: isHeld, resolve: onHeld } = Promise.withResolvers<void>()
  const [before] = await stage.write([account])
  const held = stage.write([other], async () => {
    onHeld()
    await isReleased
  })
  await isHeld
  const [after] = await stage.write([account])
  await stage.start({ patient: () => collect(items) })
  const seen = (): string[] =>
    items
      .filter(({ request }) => [account, other].includes(request.account_id))
      .map(({ request }) => request.request_id)
  // It is released once the exporter has waited for it.
  await eventually(async () => {
    const waiting = await stage.database.query(
      `SELECT FROM pg_locks WHERE relation = 'export_queue'::regclass AND mode = 'RowExclusiveLock'`,
    )
    expect(waiting.length).toBeGreaterThan(0)
  })
  release()
  const [between] = await held
  const expected = [before, between, after].map((id = '') => `req_${id.replaceAll('-', '')}`)
  await eventually(() => expect(seen()).toEqual(expected))
})
