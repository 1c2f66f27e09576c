import type { Queryable } from '../../../storage/database.ts'
import type { Batches } from '../../batches/batches.ts'
import type { Run } from '../runs/run.ts'
import { listRunBatches } from './run-batches.ts'

type Batch = Awaited<ReturnType<Batches['read']>>

/** A batch, and the lane whose cells it asks. */
export interface BatchOfLane {
  readonly batch: Batch
  readonly laneId: string
}

/** The batches of a run, in the order in which they were made. */
export async function readBatchesOfRun(
  { database, batches }: { readonly database: Queryable; readonly batches: Pick<Batches, 'readMany'> },
  run: Run,
): Promise<readonly BatchOfLane[]> {
  if (!run.isBatch) return []
  const positions = await listRunBatches(database, run.id)
  const found = await batches.readMany(run, [...positions.keys()])
  return found.flatMap((batch) => {
    const lane = run.lanes.find(({ position }) => position === positions.get(batch.id))
    return lane === undefined ? [] : [{ batch, laneId: lane.id }]
  })
}
