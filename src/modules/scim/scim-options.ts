import type { Clock } from '../../kernel/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Keys } from '../keys/keys.ts'

/** What tokens, people and groups of directories use. */
export interface ScimOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: Pick<Keys, 'announceAccountChange' | 'announcePeopleChange' | 'requireMayGive'>
}
