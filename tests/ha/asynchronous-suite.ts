import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { checkDatabase } from '../../src/app/doctor/check-database.ts'
import { readDatabase } from '../../src/app/doctor/read-database.ts'
import { countAnswers } from './count-answers.ts'
import { obstacles, RATE, saySkipped, useStage } from './run-faults.ts'

/** How long the standbys are behind before the primary dies. */
const BEHIND_MS = 3_000

saySkipped('the suite', obstacles)

describe.skipIf(obstacles.length > 0)('asynchronous replication', () => {
  const used = useStage()

  test('loses charges when a standby that is behind is promoted, and the gateways say so', async () => {
    const stage = used.current()
    const { cluster, load, network } = stage
    await cluster.control(['edit-config', '--force', '--set', 'synchronous_mode=false'])
    const primary = await cluster.primary()
    const standbys = cluster.nodes.filter(({ name }) => name !== primary.name)
    const database = cluster.connect(primary)
    while (await waitsForStandby(database)) await delay(250)
    const findings = checkDatabase(await readDatabase(database), { migrations: 0, nowMs: Date.now() })
    expect(findings.map(({ code }) => code)).toContain('standby_not_synchronous')
    await database.close()
    load.setRate(RATE)
    await delay(2_000)
    await primary.cutFrom(standbys, 'all')
    await delay(BEHIND_MS)
    await primary.signalAll('SIGKILL')
    for (;;) {
      const { leader } = await cluster.readState()
      if (leader !== null && leader !== primary.name) break
      await delay(250)
    }
    // Not before: what a dead machine had not sent yet is lost.
    await primary.heal()
    cluster.startNode(primary)
    await cluster.untilWhole()
    await stage.untilReady()
    await delay(2_000)
    await load.pause()
    const count = await countAnswers(stage)
    used.note({ name: 'asynchronous: a standby that is behind is promoted', count })
    const lost = count.defects.filter((defect) => defect.includes('free: complete and not charged'))
    expect(lost).not.toEqual([])
    const logs = stage.gateways.map(({ machine }) =>
      readFileSync(join(network.directory, `${machine.name}.log`), 'utf8'),
    )
    expect(logs.join('\n')).toContain('has lost charges that it had confirmed')
    // Afterwards the gateways charge as before.
    const from = 1 + load.ended.reduce((last, { number }) => Math.max(last, number), 0)
    load.setRate(RATE)
    await delay(5_000)
    await load.pause()
    const after = await countAnswers(stage, from)
    used.note({ name: 'asynchronous: afterwards', count: after })
    expect({ refused: after.refused, free: after.answered - after.charges }).toEqual({ refused: 0, free: 0 })
  })
})

async function waitsForStandby(database: {
  query<Row extends object>(sql: string): Promise<Row[]>
}): Promise<boolean> {
  const [row] = await database.query<{ names: string }>('SHOW synchronous_standby_names')
  return Object.values(row ?? {})[0] !== ''
}
