import { invalidValue } from '../../../kernel/app-error.ts'
import type { Environment } from '../authenticate/caller.ts'

/** Who is to use the models of a key. */
export interface ModelUser {
  readonly accountId: string
  readonly projectId: string | null
  readonly environment: Environment
}

/** A name that no model has, and the name that was probably meant. */
interface UnknownModel {
  readonly name: string
  readonly meant: string | null
}

/** Returns the first of these names that no model has which the user sees. */
export type FindUnknownModel = (user: ModelUser, names: readonly string[]) => UnknownModel | null

/**
 * Throws for names that no model has: a misspelt one would make a key that is refused everywhere. Names that the key already has are left
 * alone, because models end.
 */
export function requireKnownModels(
  find: FindUnknownModel,
  user: ModelUser,
  { asked, held = [] }: { asked: readonly string[] | null | undefined; held?: readonly string[] | null },
): void {
  const added = (asked ?? []).filter((name) => held?.includes(name) !== true)
  const unknown = added.length === 0 ? null : find(user, added)
  if (unknown === null) return
  const hint = unknown.meant === null ? '' : ` Did you mean '${unknown.meant}'?`
  throw invalidValue('allowed_models', `There is no model '${unknown.name}'.${hint}`)
}
