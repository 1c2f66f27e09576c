import type { Queryable } from '../../../storage/database.ts'

/** Returns those of the signed-in tools that do not exist any more. */
export async function findEndedGrants(queryable: Queryable, grantIds: readonly string[]): Promise<string[]> {
  const found = await queryable.query<{ id: string }>('SELECT id FROM grants WHERE id = ANY ($1::uuid[])', [
    grantIds,
  ])
  const existing = new Set(found.map(({ id }) => id))
  return grantIds.filter((id) => !existing.has(id))
}
