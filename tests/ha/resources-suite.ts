import { describe } from 'vitest'
import { findFakeClock } from './find-obstacles.ts'
import { FULL_DISK, NAME_MOVES, WRONG_CLOCK } from './resources.ts'
import { countAllAtEnd, obstacles, saySkipped, strikeInTurn, useStage } from './run-faults.ts'

saySkipped('the suite', obstacles)

const faults = [FULL_DISK, ...(findFakeClock() === null ? [] : [WRONG_CLOCK])]
if (faults.length === 1) saySkipped('clocks', ['libfaketime is missing (Debian: faketime)'])

describe.skipIf(obstacles.length > 0)('disks and clocks', () => {
  const stage = useStage()
  strikeInTurn(stage, faults, faults.length)
  countAllAtEnd(stage)
})

describe.skipIf(obstacles.length > 0)('a database that is known by one name', () => {
  const stage = useStage(() => ({ primaryName: 'primary.db' }))
  strikeInTurn(stage, [NAME_MOVES], 2)
  countAllAtEnd(stage)
})
