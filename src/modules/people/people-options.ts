import type { Clock } from '../../kernel/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Keys } from '../keys/keys.ts'
import type { Sessions } from '../sessions/sessions.ts'

/** What members and invitations use. */
export interface PeopleOptions {
  readonly database: Database
  readonly clock: Clock
  readonly keys: Pick<
    Keys,
    'announceAccountChange' | 'announcePeopleChange' | 'requireMayGive' | 'keepOwner' | 'rolesOf'
  >
  readonly sessions: Pick<Sessions, 'startForPerson'>
}
