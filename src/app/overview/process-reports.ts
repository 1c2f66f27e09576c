import type { MessageBus } from '../../storage/bus/message-bus.ts'
import { decodeReport, encodeReport, type ProcessReport } from './process-report.ts'

/** The reports of one process, oldest first. */
export type ReportHistory = readonly ProcessReport[]

export interface ProcessReports {
  /** Asks all processes for a report and waits for them. From then on they send reports for some seconds by themselves. */
  gather(): Promise<void>
  /** The recent reports of every process that is alive. */
  list(): readonly ReportHistory[]
  close(): void
}

interface ProcessReportsOptions {
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publish' | 'publishAndConfirm'>
  readonly createReport: () => Promise<ProcessReport>
}

const ASK_TOPIC = 'overview.ask'
const REPORT_TOPIC = 'overview.report'
const GATHER_MS_MAX = 1_000
const GATHER_AGAIN_MS = 500
const SEND_MS = 2_000
/** Longer than the pause between two requests of a watcher. */
const WATCHED_MS = 12_000
/** A process that is silent for this long has ended. */
const SILENT_MS = 8_000
/** About ten seconds, over which rates are averaged. */
const HISTORY_MAX = 6
const PROCESSES_MAX = 1_000

/** Exchanges reports between all processes on one database, only while somebody looks at them. */
export function createProcessReports(options: ProcessReportsOptions): ProcessReports {
  const { messageBus, createReport } = options
  const histories = new Map<string, { reports: ProcessReport[]; receivedAtMs: number }>()
  let ownId: string | null = null
  let watchedUntilMs = -Infinity
  let ticker: NodeJS.Timeout | null = null
  let gathering: Promise<void> | null = null
  let gatheredAtMs = -Infinity

  const keep = (report: ProcessReport): void => {
    const known = histories.get(report.id)
    if (known === undefined && histories.size >= PROCESSES_MAX) return
    const reports = [...(known?.reports ?? []), report].slice(-HISTORY_MAX)
    histories.set(report.id, { reports, receivedAtMs: performance.now() })
  }
  const send = async (): Promise<void> => {
    const report = await createReport()
    ownId = report.id
    // Kept at once, so that this process is seen even while messages cannot be sent.
    keep(report)
    await messageBus.publish(REPORT_TOPIC, encodeReport(report))
  }
  const stop = (): void => {
    if (ticker !== null) clearInterval(ticker)
    ticker = null
  }
  const sendWhileWatched = (): void => {
    watchedUntilMs = performance.now() + WATCHED_MS
    ticker ??= setInterval(() => {
      if (performance.now() > watchedUntilMs) stop()
      // A bus that is away is reported by the bus.
      else send().catch(() => {})
    }, SEND_MS).unref()
  }
  const unsubscribe = [
    messageBus.subscribe(REPORT_TOPIC, (text) => {
      const report = decodeReport(text)
      if (report !== null && report.id !== ownId) keep(report)
    }),
    // The answer is sent before the confirmation, so whoever asked has it by then.
    messageBus.subscribe(ASK_TOPIC, async () => {
      sendWhileWatched()
      await send()
    }),
  ]
  const ask = async (): Promise<void> => {
    const { confirmed } = await messageBus.publishAndConfirm(ASK_TOPIC, '', { timeoutMs: GATHER_MS_MAX })
    if (!confirmed) keep(await createReport())
    gatheredAtMs = performance.now()
  }

  return {
    async gather() {
      if (performance.now() - gatheredAtMs < GATHER_AGAIN_MS) return
      gathering ??= ask().finally(() => {
        gathering = null
      })
      await gathering
    },
    list: () => {
      const aliveSinceMs = performance.now() - SILENT_MS
      for (const [id, { receivedAtMs }] of histories) if (receivedAtMs < aliveSinceMs) histories.delete(id)
      return [...histories.values()].map(({ reports }) => reports)
    },
    close: () => {
      stop()
      for (const end of unsubscribe) end()
    },
  }
}
