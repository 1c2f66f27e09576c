import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../src/kernel/app-error.ts'
import type { ClaimedTask, TaskControl, TaskPerformer } from '../../src/modules/tasks/tasks.ts'

const POLL_MS = 25
const TARGET = { provider: 'maker', upstreamModel: 'maker-1' }

/** Runs tasks at a `JobUpstream`. It stores the attempt before the submit, and the job before polling. */
export function createJobPerformer(url: string): TaskPerformer {
  return {
    perform: async (task, control) => {
      const id = task.job?.job.id ?? (await submit(url, task, control))
      for (;;) {
        const { isDone } = await ask(`${url}/jobs/${id}/`, 'GET', control)
        if (isDone === true) break
        await delay(POLL_MS, undefined, { signal: control.cancellation.signal })
      }
      if (JSON.stringify(task.work).includes('fails'))
        throw new AppError('provider_error', 'It did not work out.')
      return {
        result: { data: [{ media_id: id }] },
        usage: { jobs: 1 },
        costNanoUsd: task.holdNanoUsd / 2n,
        provider: 'maker',
      }
    },
    cancelJob: async (task) => {
      if (task.job === null) return
      await fetch(`${url}/jobs/${task.job.job.id}/cancel`, { method: 'POST' }).catch(() => {})
    },
  }
}

async function submit(url: string, task: ClaimedTask, control: TaskControl): Promise<string> {
  const jobs = `${url}/jobs?request_id=${task.requestId}`
  const found = task.submittingTo === null ? null : (await ask(jobs, 'GET', control))['id']
  if (typeof found !== 'string') await control.noteSubmitting(TARGET)
  const id = String(typeof found === 'string' ? found : (await ask(jobs, 'POST', control))['id'])
  await control.saveJob({ ...TARGET, job: { id } })
  return id
}

async function ask(
  url: string,
  method: string,
  { cancellation }: TaskControl,
): Promise<Record<string, unknown>> {
  const response = await fetch(url, { method, signal: cancellation.signal })
  return Object.assign({}, await response.json())
}
