import type { Clock } from '../../kernel/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Keys } from '../keys/keys.ts'

/** What groups, their members and their projects use. */
export interface GroupOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: Pick<Keys, 'announceAccountChange' | 'requireMayGive' | 'keepOwner'>
}
