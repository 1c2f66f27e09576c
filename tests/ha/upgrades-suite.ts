import { join } from 'node:path'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, test } from 'vitest'
import { hasRelease, unpackRelease } from '../storage/unpack-release.ts'
import { removeDirectory } from '../support/remove-directory.ts'
import { countAllAtEnd, countDuring, obstacles, saySkipped, useStage } from './run-faults.ts'

/** The release that is upgraded. */
const COMMIT = process.env['PARKWAY_HA_RELEASE'] ?? 'HEAD'
const reasons = hasRelease(COMMIT) ? obstacles : [...obstacles, `this clone does not have ${COMMIT}`]

saySkipped('the suite', reasons)

describe.skipIf(reasons.length > 0)('rolling upgrades', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parkway-ha-release-'))
  const used = useStage(() => ({ main: unpackRelease(COMMIT, join(directory, 'release')) }))
  afterAll(() => removeDirectory(directory))

  test.each(['from the release before', 'to the same release again'])('%s', async (name) => {
    const stage = used.current()
    const count = await countDuring(stage, async () => {
      for (const gateway of stage.gateways) await stage.replaceGateway(gateway)
    })
    used.note({ name: `rolling upgrade ${name}`, count })
    expect(count.defects).toEqual([])
    expect({ refused: count.refused, inDoubt: count.inDoubt }).toEqual({ refused: 0, inDoubt: 0 })
  })
  countAllAtEnd(used)
})
