/** An invitation to an account. Its code is shown once and not stored. */
export interface Invite {
  readonly id: string
  readonly email: string
  readonly role: string
  readonly projects: readonly InvitedProject[]
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly acceptedAtMs: number | null
}

export interface InvitedProject {
  readonly id: string
  readonly role: string
}

export interface InviteRow {
  readonly id: string
  readonly account_id: string
  readonly email: string
  readonly role: string
  readonly environment: string
  readonly projects: InvitedProject[]
  readonly created_at: Date
  readonly expires_at: Date
  readonly accepted_at: Date | null
  readonly invited_by: string | null
}

export const INVITE_COLUMNS =
  'id, account_id, email, role, environment, projects, created_at, expires_at, accepted_at, invited_by'

/** Returns the roles that an invitation gives, in the account and in each project. */
export function giftsOf({ role, projects }: Pick<Invite, 'role' | 'projects'>): {
  readonly projectId: string | null
  readonly roles: readonly string[]
}[] {
  return [
    { projectId: null, roles: [`account:${role}`] },
    ...projects.map((project) => ({ projectId: project.id, roles: [`project:${project.role}`] })),
  ]
}

export function inviteFromRow(row: InviteRow): Invite {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    projects: row.projects,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    acceptedAtMs: row.accepted_at?.getTime() ?? null,
  }
}
