import { Type } from 'typebox'
import { AppError, notFound } from '../../../kernel/app-error.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { parseWireId } from '../../../wires/organization-ids.ts'

export const ProjectParams = Type.Object({
  project_id: Type.String({ maxLength: 100, description: 'The id of a project: `proj_…`.' }),
})

/** Returns the project that the path names. A key of a project reaches no other one: it is 404 like one that does not exist. */
export function ownProject(caller: Caller, named: string): string {
  const id = parseWireId('project', named)
  if (id === null || (caller.projectId !== null && caller.projectId !== id)) throw notFound('project')
  return id
}

/** The same for what is set for a project and not by it: a key of the project may read it only. */
export function managedProject(caller: Caller, named: string): string {
  const id = ownProject(caller, named)
  if (caller.projectId === null) return id
  throw new AppError('forbidden', 'A project does not set its own limits. Use a key of the account.')
}

const NAMES = {
  user: 'user',
  serviceAccount: 'service account',
  invite: 'invite',
  group: 'group',
  scimToken: 'SCIM token',
} as const
type NamedKind = keyof typeof NAMES

/** Returns the id that a path names. Any other text is no id, and so 404. */
export function pathId(kind: NamedKind, text: string): string {
  const id = parseWireId(kind, text)
  if (id === null) throw notFound(NAMES[kind])
  return id
}
