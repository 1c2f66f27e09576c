import type { Database } from '../../storage/database.ts'
import type { People } from '../people/people.ts'
import type { Sessions } from '../sessions/sessions.ts'

/** What passkeys use. */
export interface PasskeysOptions {
  readonly database: Database
  readonly sessions: Pick<Sessions, 'startForPerson' | 'confirmPerson'>
  readonly people: Pick<People, 'entries'>
}
