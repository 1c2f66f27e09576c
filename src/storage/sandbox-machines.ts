import type { Database, Queryable } from './database.ts'

interface SandboxMachine {
  readonly instanceId: string
  readonly tierId: string
  readonly huggingfaceId: string
  readonly failure: string | null
  readonly launchedAtMs: number
  readonly releasedAtMs: number | null
}

interface MachineRow {
  readonly instance_id: string
  readonly tier_id: string
  readonly huggingface_id: string
  readonly failure: string | null
  readonly launched_at: Date
  readonly released_at: Date | null
}

/** Advisory lock that serialises taking machines. All processes must use the same constant. */
const TAKE_LOCK_ID = 7_275_929_019
const LIST_MAX = 10_000

/** Stores the sandbox's GPU machines as rows, so that all processes see them and a restart does not lose them. */
export function createSandboxMachines(database: Database) {
  return {
    take: (machine: SandboxMachine, machineCount: number): Promise<boolean> =>
      database.transaction((transaction) => take(transaction, machine, machineCount)),
    read: async (instanceId: string): Promise<SandboxMachine | null> => {
      const [row] = await database.query<MachineRow>(
        'SELECT * FROM sandbox_machines WHERE instance_id = $1',
        [instanceId],
      )
      return row === undefined ? null : machineFromRow(row)
    },
    readAll: async (instanceIds: readonly string[]): Promise<readonly SandboxMachine[]> => {
      const rows = await database.query<MachineRow>(
        'SELECT * FROM sandbox_machines WHERE instance_id = ANY ($1::uuid[])',
        [instanceIds],
      )
      return rows.map(machineFromRow)
    },
    release: async (instanceId: string, releasedAtMs: number): Promise<void> => {
      await database.query(
        'UPDATE sandbox_machines SET released_at = $2 WHERE instance_id = $1 AND released_at IS NULL',
        [instanceId, new Date(releasedAtMs)],
      )
    },
    list: async (): Promise<readonly SandboxMachine[]> => {
      const rows = await database.query<MachineRow>(
        'SELECT * FROM sandbox_machines ORDER BY instance_id LIMIT $1',
        [LIST_MAX],
      )
      return rows.map(machineFromRow)
    },
    forget: async (instanceIds: readonly string[]): Promise<void> => {
      await database.query('DELETE FROM sandbox_machines WHERE instance_id = ANY ($1::uuid[])', [instanceIds])
    },
  }
}

async function take(
  transaction: Queryable,
  { instanceId, tierId, huggingfaceId, failure, launchedAtMs }: SandboxMachine,
  machineCount: number,
): Promise<boolean> {
  await transaction.query('SELECT pg_advisory_xact_lock($1)', [TAKE_LOCK_ID])
  const known = await transaction.query('SELECT FROM sandbox_machines WHERE instance_id = $1', [instanceId])
  if (known.length > 0) return true
  const taken = await transaction.query(
    `SELECT FROM sandbox_machines WHERE tier_id = $1 AND (released_at IS NULL OR released_at > $2)
       AND failure IS DISTINCT FROM 'capacity_exhausted'`,
    [tierId, new Date(launchedAtMs)],
  )
  if (taken.length >= machineCount) return false
  await transaction.query(
    `INSERT INTO sandbox_machines (instance_id, tier_id, huggingface_id, failure, launched_at) VALUES ($1, $2, $3, $4, $5)`,
    [instanceId, tierId, huggingfaceId, failure, new Date(launchedAtMs)],
  )
  return true
}

function machineFromRow(row: MachineRow): SandboxMachine {
  return {
    instanceId: row.instance_id,
    tierId: row.tier_id,
    huggingfaceId: row.huggingface_id,
    failure: row.failure,
    launchedAtMs: row.launched_at.getTime(),
    releasedAtMs: row.released_at?.getTime() ?? null,
  }
}
