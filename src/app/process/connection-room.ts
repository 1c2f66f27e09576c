import { Type } from 'typebox'
import { Value } from 'typebox/value'

/** What the process has open besides: the database, listeners, files of requests, Node's own. */
const OWN_FILES = 100

/**
 * How many connections of clients a process can serve with the files it may open. Each of them may need another connection to an
 * upstream: a process that took more would refuse at the upstream what it had already accepted.
 */
export function roomForConnections(connectionsMax: number, openFilesMax = readOpenFilesMax()): number {
  const room = Math.floor((openFilesMax - OWN_FILES) / 2)
  return Math.max(1, Math.min(connectionsMax, room))
}

const REPORT = Type.Object({
  userLimits: Type.Object({ open_files: Type.Object({ soft: Type.Number() }) }),
})

function readOpenFilesMax(): number {
  // Otherwise it looks up the names of all peers.
  Object.assign(process.report, { excludeNetwork: true })
  const report: unknown = process.report.getReport()
  // A system without a limit says "unlimited".
  return Value.Check(REPORT, report) ? report.userLimits.open_files.soft : Infinity
}
