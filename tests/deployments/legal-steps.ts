export interface EventRow {
  readonly deployment_id: string
  readonly type: string
  readonly from_status: string | null
  readonly to_status: string
}

/** The next statuses of each status. Every status except `deleted` can also lead to `error` and `deleted`. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  created: ['queued'],
  queued: ['creating', 'stopping', 'stopped'],
  creating: ['starting', 'queued', 'stopping'],
  starting: ['running', 'queued', 'stopping'],
  // An engine that is lost is started again.
  running: ['sleeping', 'stopping', 'queued', 'starting'],
  sleeping: ['starting', 'stopped'],
  stopping: ['stopped', 'creating'],
  stopped: ['queued'],
  error: ['queued', 'stopped'],
  deleted: [],
}

/** Returns the events that do not start at the status of the event before, or that make a step that is not allowed. */
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
