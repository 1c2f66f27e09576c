import { ACCOUNT_FIELD_NOTES } from './notes/account-field-notes.ts'
import { COMPARE_FIELD_NOTES } from './notes/compare-field-notes.ts'
import { DEPLOYMENT_FIELD_NOTES } from './notes/deployment-field-notes.ts'
import { MODEL_FIELD_NOTES } from './notes/model-field-notes.ts'
import { SHARED_FIELD_NOTES } from './notes/shared-field-notes.ts'

const NOTES: ReadonlyMap<string, string> = new Map(
  [
    SHARED_FIELD_NOTES,
    MODEL_FIELD_NOTES,
    COMPARE_FIELD_NOTES,
    DEPLOYMENT_FIELD_NOTES,
    ACCOUNT_FIELD_NOTES,
  ].flatMap((notes) => Object.entries(notes)),
)

/**
 * Returns the description of a field whose schema has none. A note for the field of this schema has priority over a note for the
 * name.
 */
export function fieldNote(owner: string | null, name: string): string | undefined {
  return (owner === null ? undefined : NOTES.get(`${owner}.${name}`)) ?? NOTES.get(name)
}
