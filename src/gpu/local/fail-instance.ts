import type { InstanceFailure } from '../gpu-driver.ts'
import { BoundedLog } from './bounded-log.ts'
import type { EngineState, Placement } from './engine-plan.ts'
import type { InstanceDirectory } from './instance-directory.ts'
import { releaseAll } from './places.ts'

/** The state of an instance that never had an engine. */
export const NOTHING: EngineState = {
  phase: 'ended',
  keeper: null,
  engine: null,
  boundAtMs: null,
  releasedAtMs: null,
  failure: null,
}

interface Ending {
  readonly failure: InstanceFailure | null
  /** Missing if the instance got no place. */
  readonly placement?: Placement
  readonly nowMs?: number
}

/** Ends an instance that has no keeper yet and releases its place. */
export async function failInstance(
  directory: InstanceDirectory,
  instanceId: string,
  { failure, placement, nowMs }: Ending,
): Promise<void> {
  const log = new BoundedLog(directory.pathOf(instanceId))
  log.line(failure === null ? 'stopped' : `failed: ${failure.message}`)
  await directory.writeState(instanceId, {
    ...NOTHING,
    failure,
    boundAtMs: placement?.boundAtMs ?? null,
    releasedAtMs: nowMs ?? null,
  })
  await releaseAll(directory, placement?.placeNames ?? [], instanceId)
}
