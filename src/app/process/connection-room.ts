import { Type } from 'typebox'
import { Value } from 'typebox/value'

/** Files that the process needs for other purposes: the database, listeners, uploads, Node itself. */
const OWN_FILES = 100

/** Connections beyond the limit, which are open until their client has read that they are refused. */
const REFUSED_MAX = 1_024
const REFUSED_PART = 1 / 8

/** Returns how many refused connections may be open at the same time. */
export function roomForRefused(openFilesMax = readOpenFilesMax()): number {
  return Math.max(1, Math.min(REFUSED_MAX, Math.floor(openFilesMax * REFUSED_PART)))
}

/**
 * Returns how many client connections a process can serve with its limit of open files. Each may need another connection to an
 * upstream, so with more connections accepted requests would fail at the upstream.
 */
export function roomForConnections(connectionsMax: number, openFilesMax = readOpenFilesMax()): number {
  const room = Math.floor((openFilesMax - OWN_FILES - roomForRefused(openFilesMax)) / 2)
  return Math.max(1, Math.min(connectionsMax, room))
}

const REPORT = Type.Object({
  userLimits: Type.Object({ open_files: Type.Object({ soft: Type.Number() }) }),
})

let known: number | null = null

/** The limit cannot change while the process runs, and to read it takes some milliseconds. */
function readOpenFilesMax(): number {
  known ??= readReportedLimit()
  return known
}

function readReportedLimit(): number {
  // Otherwise the report looks up the host names of all peers.
  Object.assign(process.report, { excludeNetwork: true })
  const report: unknown = process.report.getReport()
  // Without a limit the value is "unlimited".
  return Value.Check(REPORT, report) ? report.userLimits.open_files.soft : Infinity
}
