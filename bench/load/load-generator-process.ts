/** The process of the load generator. Runs one job at a time, received over its IPC channel. */
import type { LoadJob } from './load-job.ts'
import { runExchanges } from './run-exchanges.ts'
import { runHeldStreams } from './run-held-streams.ts'
import { runOpenLoop } from './run-open-loop.ts'
import { runTasks } from './run-tasks.ts'

process.on('message', (job: LoadJob) => {
  runJob(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit(0))

function runJob(job: LoadJob): Promise<unknown> {
  if (job.kind === 'tasks') return runTasks(job)
  if (job.kind === 'open-loop') return runOpenLoop(job)
  return job.kind === 'exchanges' ? runExchanges(job) : runHeldStreams(job)
}
