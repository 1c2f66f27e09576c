import type { AuditLogEntry } from '../../api/audit-log.ts'
import { writeCsv } from '../../ui/data/write-csv.ts'
import { describeActor, detailsOf } from './describe-actor.ts'

const COLUMNS = ['time', 'id', 'type', 'actor', 'ip_address', 'user_agent', 'project', 'details'] as const

/** Writes the entries as lines, with their details as JSON. */
export function writeAuditCsv(entries: readonly AuditLogEntry[]): string {
  return writeCsv(
    COLUMNS,
    entries.map((entry) => ({
      time: new Date(entry.effective_at * 1000).toISOString(),
      id: entry.id,
      type: entry.type,
      actor: describeActor(entry),
      ip_address: entry.ip_address,
      user_agent: entry.user_agent,
      project: entry.project?.name ?? entry.project?.id,
      details: JSON.stringify(detailsOf(entry)),
    })),
  )
}
