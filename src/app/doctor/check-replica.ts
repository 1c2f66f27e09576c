import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable } from '../../storage/database.ts'
import { parseLogPosition } from '../../storage/replica/position-history.ts'
import { readStandby, readWritten } from '../../storage/replica/read-positions.ts'
import { messageOf } from '../../storage/storage-error.ts'
import type { Finding } from './finding.ts'

const POLL_MS = 100
/** The doctor does not wait longer for a replica that may be further behind. */
const WAIT_MS_MAX = 5_000

interface ExaminedReplica {
  readonly primary: Queryable
  readonly replica: Queryable
  /** How far it may be behind. */
  readonly lagMsMax: number
}

/** Looks whether the replica for reads is a standby of the primary, and catches up in time. */
export async function examineReplica({ primary, replica, lagMsMax }: ExaminedReplica): Promise<Finding[]> {
  const source = await readWritten(primary)
  const find = (code: string, message: string, mend: string): Finding[] => [
    { code, level: 'warning', subject: 'DATABASE_READ_URL', message, mend },
  ]
  try {
    const written = parseLogPosition(source.written)
    const deadlineMs = performance.now() + Math.min(lagMsMax, WAIT_MS_MAX)
    for (;;) {
      const standby = await readStandby(replica)
      if (!standby.is_standby || standby.replayed === null || standby.cluster !== source.cluster)
        return find(
          'replica_foreign',
          'The server for reads is no standby of the primary, and is not used.',
          'Let DATABASE_READ_URL name a hot standby that streams from the primary.',
        )
      if (parseLogPosition(standby.replayed) >= written) return []
      if (performance.now() > deadlineMs)
        return find(
          'replica_behind',
          'The server for reads is further behind than it may be; the primary is read instead.',
          'Look at its network, its disk, and at queries there that hold it up, or raise PARKWAY_DATABASE_READ_LAG_MS.',
        )
      await delay(POLL_MS)
    }
  } catch (error) {
    return find(
      'replica_away',
      `The server for reads cannot be asked: ${messageOf(error)}. The primary is read instead.`,
      'Start it, or correct DATABASE_READ_URL.',
    )
  }
}
