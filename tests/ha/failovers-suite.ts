import { describe } from 'vitest'
import { FAILOVERS } from './faults.ts'
import { countAllAtEnd, obstacles, sayWhySkipped, strikeInTurn, useStage } from './run-faults.ts'

sayWhySkipped()

describe.skipIf(obstacles.length > 0)('failovers', () => {
  const stage = useStage()
  strikeInTurn(stage, FAILOVERS)
  countAllAtEnd(stage)
})
