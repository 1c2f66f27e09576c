/** What a key was made for. Each means a set of permissions. */
export const SCOPES = ['inference', 'manage', 'admin'] as const
export type Scope = (typeof SCOPES)[number]
