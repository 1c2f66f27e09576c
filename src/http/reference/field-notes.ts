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

/** What a field means whose schema does not say it. The name alone decides unless the schema it is in has a note of its own. */
export function fieldNote(owner: string | null, name: string): string | undefined {
  return (owner === null ? undefined : NOTES.get(`${owner}.${name}`)) ?? NOTES.get(name)
}
