import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../statistics.ts'
import type { TasksJob, TasksResult } from './load-job.ts'
import { openRawConnection } from './raw-connection.ts'
import type { RawConnection } from './raw-connection.ts'

const DRAIN_MS_MAX = 10_000
const FAILURES_MAX = 100
const REASON_BYTES_MAX = 300
const WAIT_SECONDS = 30

/** Keeps `concurrency` tasks in progress: each connection creates a task, waits until it is completed, and creates the next. */
export async function runTasks(job: TasksJob): Promise<TasksResult> {
  const countedFromMs = performance.now() + job.warmupMs
  const countedUntilMs = countedFromMs + job.durationMs
  const connections = new Set<RawConnection>()
  const durations: number[] = []
  const failures: string[] = []
  let answers = 0
  let cutOff = 0

  const open = () => {
    let madeAtMs = 0
    let isUnderWay = false
    let body = ''
    const make = () => {
      body = ''
      madeAtMs = performance.now()
      isUnderWay = true
      connection.send(Buffer.from(job.request, 'latin1'))
    }
    const end = () => {
      isUnderWay = false
      if (performance.now() < countedUntilMs && failures.length < FAILURES_MAX) return make()
      connection.close()
      connections.delete(connection)
    }
    const connection = openRawConnection(job.port, {
      onOpen: make,
      onBody: (bytes) => {
        body += bytes.toString('latin1')
      },
      onAnswer: (status) => {
        const task = status === 200 || status === 202 ? readTask(body) : null
        if (task?.status === 'completed') {
          const nowMs = performance.now()
          answers += 1
          if (nowMs >= countedFromMs && nowMs < countedUntilMs) durations.push(nowMs - madeAtMs)
          return end()
        }
        if (task?.status === 'pending' || task?.status === 'processing') {
          body = ''
          return connection.send(followRequest(task.id, job.headers))
        }
        failures.push(`${status}: ${body.slice(0, REASON_BYTES_MAX)}`)
        end()
      },
      onLost: (reason) => {
        failures.push(reason)
        if (isUnderWay) cutOff += 1
        connections.delete(connection)
        if (performance.now() < countedUntilMs && failures.length < FAILURES_MAX) open()
      },
    })
    connections.add(connection)
  }

  for (let opened = 0; opened < job.concurrency; opened += 1) open()
  await sleep(job.warmupMs + job.durationMs)
  const drainUntilMs = performance.now() + DRAIN_MS_MAX
  while (connections.size > 0 && performance.now() < drainUntilMs) await sleep(5)
  cutOff += connections.size
  for (const connection of connections) connection.close()
  return {
    answers,
    cutOff,
    cutOffWithin: 0,
    tasks: durations.length,
    failures: failures.length,
    firstFailure: failures[0] ?? null,
    tasksPerSecond: durations.length / (job.durationMs / 1000),
    durationP50Ms: percentile(durations, 0.5),
    durationP99Ms: percentile(durations, 0.99),
  }
}

function readTask(body: string): { id: string; status: string } {
  return JSON.parse(body)
}

function followRequest(id: string, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`GET /v1/tasks/${id}?wait=${WAIT_SECONDS} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
}
