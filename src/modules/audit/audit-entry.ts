/** An action of an operator. Names are those of today, and null for what does not exist any more or has none. */
export interface AuditEntry {
  readonly id: string
  readonly actor: {
    readonly accountId: string
    readonly accountName: string | null
    readonly keyId: string
    /** The e-mail address of the person, or the name of the service account or key. */
    readonly name: string | null
    readonly userId: string | null
  }
  readonly action: string
  readonly target: {
    readonly kind: string | null
    readonly id: string | null
    readonly name: string | null
  }
  /** The account that the action is about. */
  readonly account: { readonly id: string; readonly name: string | null } | null
  readonly details: Readonly<Record<string, unknown>>
  readonly changes: readonly AuditedChange[]
  /** `unknown` while it runs, and permanently if the process died during it. */
  readonly outcome: 'done' | 'failed' | 'unknown'
  readonly createdAtMs: number
}

/** A member that an action changed. Null where there was or is none. */
interface AuditedChange {
  readonly member: string
  readonly from: unknown
  readonly to: unknown
}

export interface AuditRow {
  readonly id: string
  readonly actor_account_id: string
  readonly actor_account_name: string | null
  readonly actor_key_id: string
  readonly actor_name: string | null
  readonly actor_user_id: string | null
  readonly action: string
  readonly target_kind: string | null
  readonly target_id: string | null
  readonly target_name: string | null
  readonly about_account_id: string | null
  readonly about_account_name: string | null
  readonly details: Record<string, unknown>
  readonly outcome: 'done' | 'failed' | null
  readonly created_at: Date
}

export function auditEntryFromRow(row: AuditRow): AuditEntry {
  const { [DIFFERENCE]: _, ...details } = row.details
  return {
    id: row.id,
    actor: {
      accountId: row.actor_account_id,
      accountName: row.actor_account_name,
      keyId: row.actor_key_id,
      name: row.actor_name,
      userId: row.actor_user_id,
    },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
    account:
      row.about_account_id === null ? null : { id: row.about_account_id, name: row.about_account_name },
    details,
    changes: readChanges(row.details),
    outcome: row.outcome ?? 'unknown',
    createdAtMs: row.created_at.getTime(),
  }
}

/** The member of the details with what an action changed, where the details are what was asked for. */
const DIFFERENCE = 'difference'

/** Returns the members that differ, in the form that is stored. */
export function differenceBetween(before: Members | null, after: Members | null): Members {
  if (before === null || after === null) return {}
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const difference = [...names].flatMap((name) => {
    const [from, to] = [before[name] ?? null, after[name] ?? null]
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [[name, { from, to }]]
  })
  return difference.length === 0 ? {} : { [DIFFERENCE]: Object.fromEntries(difference) }
}

type Members = Readonly<Record<string, unknown>>

/** Changes of what is configured are the details themselves; an applied document has those of several things. */
function readChanges(details: Members): AuditedChange[] {
  const ofThings = Array.isArray(details['changes']) ? details['changes'].filter(isMembers) : []
  return [
    ...changesOf(details, ''),
    ...(isMembers(details[DIFFERENCE]) ? changesOf(details[DIFFERENCE], '') : []),
    ...ofThings.flatMap(({ kind, name, difference }) =>
      isMembers(difference) ? changesOf(difference, `${String(kind)} ${String(name)}: `) : [],
    ),
  ]
}

function changesOf(members: Members, prefix: string): AuditedChange[] {
  return Object.entries(members).flatMap(([name, value]) =>
    isMembers(value) && 'from' in value && 'to' in value
      ? [{ member: prefix + name, from: value['from'] ?? null, to: value['to'] ?? null }]
      : [],
  )
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
