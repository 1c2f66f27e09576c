import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { OpenPage, Page, PageRequest } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import { differenceBetween, type AuditEntry } from './audit-entry.ts'
import { listChanges, type ChangeFilter, type ChangePage, type RecordedChange } from './list-changes.ts'
import { exportEntries, listEntries, type EntryFilter } from './list-entries.ts'

export type { AuditEntry } from './audit-entry.ts'
export type { EntryFilter } from './list-entries.ts'
export { AUDIT_EVENT_TYPES } from './event-types.ts'
export type { RecordedChange, RecordedKey } from './list-changes.ts'
export { recordFailedSignIn, type FailedSignIn } from './record-failed-sign-in.ts'
export { recordChange, type AccountChange, type ChangeActor, type RequestOrigin } from './record-change.ts'

interface OperatorAction {
  /** The calling key and its account. */
  readonly actor: { readonly accountId: string; readonly keyId: string }
  /** Noun and verb: `account.suspend`. */
  readonly action: string
  readonly target: { readonly kind: string; readonly id: string | null }
  /** The parameters of the request. Never secrets. */
  readonly details?: Readonly<Record<string, unknown>>
  /**
   * Reads what the action may change, right before and right after it, so that the entry has the difference. Without it the details
   * are all that is known. Never secrets.
   */
  readonly readState?: () => Promise<Readonly<Record<string, unknown>>>
}

export interface Audit {
  /**
   * Runs an operator's action. Stores an entry before it and the outcome after it, so that every action is recorded, even if the
   * process dies in between.
   */
  run<Result extends { readonly id?: string }>(
    action: OperatorAction,
    work: () => Promise<Result>,
  ): Promise<Result>
  /** Returns entries, newest first. */
  list(page: PageRequest, filter: EntryFilter): Promise<Page<AuditEntry>>
  /** Returns all entries that match, newest first, some at a time. */
  export(filter: EntryFilter): AsyncIterable<readonly AuditEntry[]>
  /** Returns what `recordChange` wrote for this account, newest first. */
  listChanges(accountId: string, page: ChangePage, filter: ChangeFilter): Promise<OpenPage<RecordedChange>>
}

export function createAudit({ database, clock }: { database: Database; clock: Clock }): Audit {
  return {
    run: async (action, work) => {
      const id = createId(clock.nowMs())
      await insertEntry(database, { ...action, id, nowMs: clock.nowMs() })
      const before = await readStateOf(action)
      const result = await work().catch(async (error: unknown) => {
        const code = error instanceof AppError ? error.code : 'internal_error'
        await closeEntry(database, id, { outcome: 'failed', targetId: null, details: { error: code } })
        throw error
      })
      const details = differenceBetween(before, before && (await readStateOf(action)))
      await closeEntry(database, id, { outcome: 'done', targetId: result.id ?? null, details })
      return result
    },
    list: (page, filter) => listEntries(database, page, filter),
    export: (filter) => exportEntries(database, filter),
    listChanges: (accountId, page, filter) => listChanges(database, accountId, page, filter),
  }
}

/** What cannot be read does not keep the action from being done or refused. */
async function readStateOf({ readState }: OperatorAction): Promise<Readonly<Record<string, unknown>> | null> {
  if (readState === undefined) return null
  return readState().catch(() => null)
}

async function insertEntry(
  database: Database,
  { id, actor, action, target, details = {}, nowMs }: OperatorAction & { id: string; nowMs: number },
): Promise<void> {
  await database.query(
    `INSERT INTO audit_entries (id, actor_account_id, actor_key_id, action, target_kind, target_id, details, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      id,
      actor.accountId,
      actor.keyId,
      action,
      target.kind,
      target.id,
      JSON.stringify(details),
      new Date(nowMs),
    ],
  )
}

// A created object has no id before the action. An existing target id is kept.
async function closeEntry(
  database: Database,
  id: string,
  { outcome, targetId, details }: { outcome: 'done' | 'failed'; targetId: string | null; details: object },
): Promise<void> {
  await database.query(
    `UPDATE audit_entries SET outcome = $2, target_id = coalesce(target_id, $3), details = details || $4
     WHERE id = $1 AND outcome IS NULL`,
    [id, outcome, targetId, JSON.stringify(details)],
  )
}
