import { describe } from 'vitest'
import { CUTS, partitionsBy } from './faults.ts'
import { countAllAtEnd, obstacles, saySkipped, strikeInTurn, useStage } from './run-faults.ts'

saySkipped('the suite', obstacles)

describe.skipIf(obstacles.length > 0).each(CUTS)('partitions: $words', (cut) => {
  const stage = useStage()
  strikeInTurn(stage, partitionsBy(cut))
  countAllAtEnd(stage)
})
