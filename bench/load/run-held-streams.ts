import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../statistics.ts'
import type { HeldStreamsJob, HeldStreamsResult } from './load-job.ts'
import { openRawConnection } from './raw-connection.ts'
import type { RawConnection } from './raw-connection.ts'

const RAMP_STEP_MS = 10
const SETTLE_MS = 500
/** The first event of a stream has the role and no text. */
const EVENTS_WITH_A_TOKEN = 2
const SAMPLES_MAX = 2_000_000

/**
 * Holds many paced streams open and counts the chunks that arrive on time. The schedule of a stream is learned from the stream:
 * the earliest arrival before the window opens, minus the pace of the chunks before it.
 */
export async function runHeldStreams(job: HeldStreamsJob): Promise<HeldStreamsResult> {
  const request = Buffer.from(job.request, 'latin1')
  const connections: RawConnection[] = []
  const latenesses: number[] = []
  const tally = { chunksReceived: 0, chunksOnTime: 0, failures: 0, answers: 0 }
  let [refused, begun] = [0, 0]
  let isWindowOpen = false

  const record = (latenessMs: number) => {
    if (latenessMs <= job.latenessMsMax) tally.chunksOnTime += 1
    if (latenesses.length < SAMPLES_MAX) latenesses.push(latenessMs)
  }
  const open = () => {
    const counter = createEventCounter()
    let eventIndex = 0
    let baselineMs = Number.POSITIVE_INFINITY
    const connection = openRawConnection(job.port, {
      onOpen: () => connection.send(request),
      onBody: (bytes) => {
        const nowMs = performance.now()
        const lastIndex = eventIndex + counter.count(bytes)
        if (eventIndex < EVENTS_WITH_A_TOKEN && lastIndex >= EVENTS_WITH_A_TOKEN) begun += 1
        for (; eventIndex < lastIndex; eventIndex += 1) {
          tally.chunksReceived += 1
          const startedAtMs = nowMs - eventIndex * job.paceMs
          if (!isWindowOpen) baselineMs = Math.min(baselineMs, startedAtMs)
          else record(startedAtMs - baselineMs)
        }
      },
      onAnswer: (status) => {
        tally.failures += 1
        if (status === 200) tally.answers += 1
        else refused += 1
      },
      onLost: () => {
        tally.failures += 1
      },
    })
    connections.push(connection)
  }

  await openEvenly({ streams: job.streams, rampMs: job.rampMs, open })
  await sleep(SETTLE_MS)
  isWindowOpen = true
  const openedAtMs = performance.now()
  await sleep(job.windowMs)
  const windowMs = performance.now() - openedAtMs
  isWindowOpen = false
  for (const connection of connections) connection.close()
  return {
    ...tally,
    cutOff: connections.length - tally.answers - refused,
    cutOffWithin: begun - tally.answers,
    chunksExpected: Math.floor((job.streams * windowMs) / job.paceMs),
    latenessP99Ms: percentile(latenesses, 0.99),
  }
}

async function openEvenly({ streams, rampMs, open }: { streams: number; rampMs: number; open: () => void }) {
  const startMs = performance.now()
  let opened = 0
  while (opened < streams) {
    const due = Math.min(streams, Math.ceil(((performance.now() - startMs) / rampMs) * streams) + 1)
    for (; opened < due; opened += 1) open()
    await sleep(RAMP_STEP_MS)
  }
}

/** Counts the empty lines that end server-sent events, also if one is split over two reads. */
function createEventCounter() {
  let endedInNewline = false
  return {
    count(bytes: Buffer): number {
      let events = endedInNewline && bytes[0] === NEWLINE ? 1 : 0
      let from = events
      // Bounded by the buffer: each search starts after the previous match.
      for (let at = bytes.indexOf('\n\n', from); at >= 0; at = bytes.indexOf('\n\n', from)) {
        events += 1
        from = at + 2
      }
      endedInNewline = from < bytes.length && bytes[bytes.length - 1] === NEWLINE
      return events
    },
  }
}

const NEWLINE = 10
