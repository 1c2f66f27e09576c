import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildChatBody } from './build-request.ts'
import type { BenchedLedger, Contestant, ContestantLaunch } from './contestants/contestant.ts'
import { pickFreePort, startProcess } from './start-process.ts'
import type { Core, StartedProcess } from './start-process.ts'

/** A process that answers chat requests: a started contestant, or the mock upstream itself. */
export interface RunningContestant {
  readonly id: string
  readonly version: string
  readonly port: number
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly process: StartedProcess
  /** The core of its PostgreSQL, if it has one. */
  readonly databaseCore: Core
  readonly ledger?: BenchedLedger
}

export interface ContestantStart {
  readonly contestant: Contestant
  readonly upstreamPort: number
  readonly directory: string
  readonly mayInstall: boolean
  readonly nodeFlags: readonly string[]
  readonly databaseCore: Core
  readonly note: (text: string) => void
}

/** Starts a contestant and waits until it answers a chat request. Notes the reason and returns undefined if it cannot start. */
export async function startContestant(start: ContestantStart): Promise<RunningContestant | undefined> {
  const { contestant, note } = start
  const directory = join(start.directory, contestant.id)
  mkdirSync(directory, { recursive: true })
  const port = await pickFreePort()
  const launch = await contestant.prepare({ ...start, port, directory })
  if ('unavailable' in launch) {
    note(`${contestant.id} is left out: ${launch.unavailable}`)
    return undefined
  }
  const started = startProcess({ ...launch, name: contestant.id, core: 'contestant', directory })
  const startedAtMs = performance.now()
  const failure = await waitUntilReady({ launch, port, started })
  if (failure !== undefined) {
    note(`${contestant.id} is left out: ${failure}\n${indent(started.logTail())}`)
    await started.stop()
    return undefined
  }
  started.moveDatabaseTo(start.databaseCore)
  note(
    `${contestant.id} answers after ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s (${launch.version})`,
  )
  return {
    id: contestant.id,
    version: launch.version,
    port,
    requestHeaders: launch.requestHeaders,
    process: started,
    databaseCore: start.databaseCore,
    ...(launch.ledger === undefined ? {} : { ledger: launch.ledger }),
  }
}

type Readiness = Pick<ContestantLaunch, 'requestHeaders' | 'readyPath' | 'startTimeoutMs'>

const POLL_MS = 50
const PROBE_MS_MAX = 5000

async function waitUntilReady({
  launch,
  port,
  started,
}: {
  launch: Readiness
  port: number
  started: StartedProcess
}): Promise<string | undefined> {
  const giveUpAtMs = performance.now() + launch.startTimeoutMs
  let lastFailure = 'it never listened'
  while (performance.now() < giveUpAtMs) {
    if (started.hasEnded()) return 'it ended by itself'
    const failure = await probe({ launch, port })
    if (failure === undefined) return undefined
    lastFailure = failure
    await sleep(POLL_MS)
  }
  return `not ready after ${launch.startTimeoutMs / 1000} s: ${lastFailure}`
}

/** Returns why the contestant is not ready yet, or undefined if it is. */
async function probe({ launch, port }: { launch: Readiness; port: number }): Promise<string | undefined> {
  const origin = `http://127.0.0.1:${port}`
  try {
    if (launch.readyPath !== undefined) {
      const ready = await fetch(origin + launch.readyPath, { signal: AbortSignal.timeout(PROBE_MS_MAX) })
      await ready.arrayBuffer()
      if (ready.status !== 200) return `${launch.readyPath} answers ${ready.status}`
    }
    const answer = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...launch.requestHeaders, 'content-type': 'application/json' },
      body: JSON.stringify(buildChatBody()),
      signal: AbortSignal.timeout(PROBE_MS_MAX),
    })
    const text = await answer.text()
    return answer.status === 200 && text.includes('"usage"')
      ? undefined
      : `a chat request answers ${answer.status} ${text.slice(0, 300)}`
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return String(cause)
  }
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, '    ')
}

/** Starts the mock upstream as a contestant, the base of all comparisons. */
export async function startMockUpstream({ directory }: { directory: string }): Promise<RunningContestant> {
  const port = await pickFreePort()
  const started = startProcess({
    name: 'mock-upstream',
    core: 'harness',
    command: process.execPath,
    arguments: [fileURLToPath(new URL('mock-upstream.ts', import.meta.url)), String(port)],
    directory: join(directory, 'mock-upstream'),
    hasChannel: true,
  })
  const launch = { version: 'mock upstream', requestHeaders: { authorization: 'Bearer sk-mock' } }
  const failure = await waitUntilReady({ launch: { ...launch, startTimeoutMs: 10_000 }, port, started })
  if (failure !== undefined) throw new Error(`the mock upstream does not start: ${failure}`)
  return { id: 'direct', port, process: started, databaseCore: 'harness', ...launch }
}
