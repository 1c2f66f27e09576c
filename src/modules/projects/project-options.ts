import type { Clock } from '../../kernel/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Keys } from '../keys/keys.ts'

/** What projects, their members and their service accounts use. */
export interface ProjectOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: Pick<
    Keys,
    'announceAccountChange' | 'announceNewKeys' | 'requireMayGive' | 'requireUnrestricted' | 'createWithin'
  >
}
