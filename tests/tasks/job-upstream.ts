import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

interface UpstreamJob {
  readonly id: string
  readonly requestId: string
  readonly doneAtMs: number
  /** True if the answer with the job id did not reach the client that submitted the job. */
  isCut: boolean
  isCancelled: boolean
}

/** An upstream with asynchronous jobs, which clients submit, poll and cancel. */
export interface JobUpstream {
  readonly url: string
  readonly jobs: readonly UpstreamJob[]
  jobsOf(requestId: string): UpstreamJob[]
  /** Sets how long answers and jobs take from now on. */
  pace(times: Partial<Pace>): void
  close(): Promise<void>
}

interface Pace {
  answerMs: () => number
  jobMs: () => number
}

export async function startJobUpstream(pace: Pace): Promise<JobUpstream> {
  const jobs: UpstreamJob[] = []
  const times = { ...pace }
  const submit = async (requestId: string, response: ServerResponse): Promise<void> => {
    const id = `job-${jobs.length + 1}`
    const job = {
      id,
      requestId,
      doneAtMs: performance.now() + times.jobMs(),
      isCut: true,
      isCancelled: false,
    }
    jobs.push(job)
    // A worker that is killed during this delay has submitted a job without knowing its id.
    await delay(times.answerMs())
    response.once('finish', () => {
      job.isCut = false
    })
    answer(response, { id })
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://upstream')
    const requestId = searchParams.get('request_id') ?? ''
    const job = jobs.find(({ id }) => pathname.includes(`/jobs/${id}/`))
    if (request.method === 'POST' && pathname === '/jobs')
      void drained(request).then(() => submit(requestId, response))
    else if (pathname === '/jobs')
      answer(response, { id: jobs.find((known) => known.requestId === requestId)?.id ?? null })
    else if (job === undefined) answer(response, { error: 'no such job' }, 404)
    else if (pathname.endsWith('/cancel')) {
      job.isCancelled = true
      answer(response, {})
    } else answer(response, { isDone: performance.now() >= job.doneAtMs })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    jobs,
    jobsOf: (requestId) => jobs.filter((job) => job.requestId === requestId),
    pace: (changed) => void Object.assign(times, changed),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function drained(request: IncomingMessage): Promise<void> {
  for await (const _chunk of request);
}

function answer(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
