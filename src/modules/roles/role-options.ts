import type { Clock } from '../../kernel/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Keys } from '../keys/keys.ts'

/** What roles and their assignments use. */
export interface RolesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: Pick<Keys, 'announceAccountChange' | 'requireMayGive' | 'keepOwner'>
}
