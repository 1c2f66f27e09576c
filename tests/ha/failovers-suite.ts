import { describe } from 'vitest'
import { FAILOVERS } from './faults.ts'
import { countAllAtEnd, obstacles, saySkipped, strikeInTurn, useStage } from './run-faults.ts'

saySkipped('the suite', obstacles)

describe.skipIf(obstacles.length > 0)('failovers', () => {
  const stage = useStage()
  strikeInTurn(stage, FAILOVERS)
  countAllAtEnd(stage)
})
