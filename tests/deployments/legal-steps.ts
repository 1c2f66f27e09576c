export interface EventRow {
  readonly deployment_id: string
  readonly type: string
  readonly from_status: string | null
  readonly to_status: string
}

/** Where a deployment can go from each status. Whatever is not deleted can also fail, and be deleted. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  created: ['queued'],
  queued: ['creating', 'stopping', 'stopped'],
  creating: ['starting', 'queued', 'stopping'],
  starting: ['running', 'queued', 'stopping'],
  running: ['sleeping', 'stopping', 'queued'],
  sleeping: ['starting', 'stopped'],
  stopping: ['stopped', 'creating'],
  stopped: ['queued'],
  error: ['queued', 'stopped'],
  deleted: [],
}

/** Every event begins where the one before has ended, and goes where that status leads. */
export function findIllegalSteps(events: readonly EventRow[]): string[] {
  const statuses = new Map<string, string>()
  return events.flatMap(({ deployment_id: id, type, from_status: from, to_status: to }) => {
    const before = statuses.get(id) ?? null
    statuses.set(id, to)
    const step = `${id}: ${type} from ${from} to ${to}`
    if (from !== before) return [`${step} after ${before}`]
    if (from === to) return []
    const isAlways = (to === 'error' || to === 'deleted') && from !== 'deleted' && from !== null
    return isAlways || STEPS[from ?? 'created']?.includes(to) === true ? [] : [step]
  })
}
