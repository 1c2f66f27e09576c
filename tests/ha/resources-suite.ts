import { describe } from 'vitest'
import { FULL_DISK, NAME_MOVES } from './resources.ts'
import { countAllAtEnd, obstacles, saySkipped, strikeInTurn, useStage } from './run-faults.ts'

saySkipped('the suite', obstacles)

describe.skipIf(obstacles.length > 0)('a full disk', () => {
  const stage = useStage()
  strikeInTurn(stage, [FULL_DISK], 1)
  countAllAtEnd(stage)
})

describe.skipIf(obstacles.length > 0)('a database that is known by one name', () => {
  const stage = useStage(() => ({ primaryName: 'primary.db' }))
  strikeInTurn(stage, [NAME_MOVES], 2)
  countAllAtEnd(stage)
})
