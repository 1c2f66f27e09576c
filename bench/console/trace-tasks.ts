import type { Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** In microseconds, as are all times of a trace. */
  readonly ts: number
  readonly dur?: number
  /** CPU time. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

interface TracedTasks {
  /** The CPU time of each task of a main thread. Unlike its duration, it does not depend on other load of the machine. */
  readonly tasksCpuMs: readonly number[]
  /** The CPU time of the task in which the page ended its measurement of this name. */
  readonly measuredCpuMs: number | null
}

/** Records the tasks of the main threads of pages, until its end. */
export async function traceTasks(
  page: Page,
  { measureName }: { measureName?: string } = {},
): Promise<{ end: () => Promise<TracedTasks> }> {
  const browser = page.context().browser()
  if (browser === null) throw new Error('the page has no browser')
  const categories = ['disabled-by-default-devtools.timeline', 'blink.user_timing', '__metadata']
  await browser.startTracing(page, { categories })
  return {
    end: async () => {
      const trace: { traceEvents: readonly TraceEvent[] } = JSON.parse(
        (await browser.stopTracing()).toString(),
      )
      const tasks = mainTasksOf(trace.traceEvents)
      const measured = trace.traceEvents.findLast(({ name, ph }) => name === measureName && ph === 'e')
      const around = tasks.find(
        ({ ts, dur = 0 }) => measured !== undefined && ts <= measured.ts && measured.ts <= ts + dur,
      )
      return {
        tasksCpuMs: tasks.map(cpuMsOf),
        measuredCpuMs: around === undefined ? null : cpuMsOf(around),
      }
    },
  }
}

function mainTasksOf(events: readonly TraceEvent[]): readonly TraceEvent[] {
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  )
  return events.filter((event) => event.name === 'RunTask' && mains.has(threadOf(event)))
}

function cpuMsOf({ tdur = 0 }: TraceEvent): number {
  return tdur / 1000
}
