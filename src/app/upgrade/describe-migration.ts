/** What a statement of a migration does to a table, and what others wait for meanwhile. */
export interface MigrationStep {
  readonly kind: MigrationKind
  /** Null for functions. */
  readonly table: string | null
}

export type MigrationKind =
  | 'new_table'
  | 'new_column'
  | 'new_index'
  | 'table_read'
  | 'table_rewritten'
  | 'rows_changed'
  | 'definition'

/** Returns what a migration does. Steps on tables that it creates itself concern nobody, and are left out. */
export function describeMigration(sql: string): MigrationStep[] {
  const steps = splitStatements(sql).flatMap(describeStatement)
  const created = new Set(steps.flatMap(({ kind, table }) => (kind === 'new_table' ? [table] : [])))
  const others = steps.filter(({ kind, table }) => kind === 'new_table' || !created.has(table))
  const seen = new Set<string>()
  return others.filter(({ kind, table }) => {
    const name = `${kind} ${table}`
    return !seen.has(name) && seen.add(name)
  })
}

/** Without comments and the texts of functions, in which semicolons end no statement. */
function splitStatements(sql: string): string[] {
  return sql
    .replace(/\$(\w*)\$[^]*?\$\1\$/g, "''")
    .replace(/--[^\n]*/g, '')
    .split(';')
    .map((statement) => statement.trim().replace(/\s+/g, ' '))
    .filter((statement) => statement !== '')
}

const NAME = String.raw`(?:ONLY )?(?:IF (?:NOT )?EXISTS )?"?(?:\w+\.)?"?(\w+)`

/** The first pattern that fits a statement says what it is. */
const PATTERNS: readonly (readonly [RegExp, MigrationKind])[] = [
  [new RegExp(`^CREATE (?:UNLOGGED )?TABLE ${NAME}`, 'i'), 'new_table'],
  [new RegExp(`^CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?\\w+ ON ${NAME}`, 'i'), 'new_index'],
  [new RegExp(`^(?:UPDATE|DELETE FROM|INSERT INTO) ${NAME}`, 'i'), 'rows_changed'],
  [new RegExp(`^WITH .*?(?:UPDATE|DELETE FROM|INSERT INTO) ${NAME}`, 'i'), 'rows_changed'],
  [new RegExp(`^(?:CREATE (?:OR REPLACE )?|DROP )TRIGGER .*? ON ${NAME}`, 'i'), 'definition'],
]

function describeStatement(statement: string): MigrationStep[] {
  const altered = new RegExp(`^ALTER TABLE ${NAME}`, 'i').exec(statement)?.[1]
  if (altered !== undefined) return describeChange(statement).map((kind) => ({ kind, table: altered }))
  for (const [pattern, kind] of PATTERNS) {
    const table = pattern.exec(statement)?.[1]
    if (table !== undefined) return [{ kind, table }]
  }
  return [{ kind: 'definition', table: null }]
}

/** Values that differ from row to row have to be written into each. */
const VOLATILE = /DEFAULT (?:gen_random_uuid|clock_timestamp|random|nextval)\b/i
/** Old rows are compared with a rule, unless it is only for new ones. */
const COMPARED = /\b(?:CHECK|FOREIGN KEY|REFERENCES|UNIQUE|PRIMARY KEY|SET NOT NULL|VALIDATE CONSTRAINT)\b/i

function describeChange(statement: string): MigrationKind[] {
  const isRewritten =
    VOLATILE.test(statement) || /\bALTER (?:COLUMN )?\w+ (?:SET DATA )?TYPE\b/i.test(statement)
  if (isRewritten) return ['table_rewritten']
  const isRead = COMPARED.test(statement) && !/\bNOT VALID\b/i.test(statement)
  const kind = /\bADD COLUMN\b/i.test(statement) ? 'new_column' : 'definition'
  return isRead ? [kind, 'table_read'] : [kind]
}
