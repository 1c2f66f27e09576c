/** What the project of a key may use. */
export interface ProjectPolicy {
  /** Null: every model. */
  readonly models: ModelPermissions | null
}

/** Names of models, each of which means the model that it leads to. */
export interface ModelPermissions {
  readonly mode: 'allow_list' | 'deny_list'
  readonly modelIds: ReadonlySet<string>
}

export interface ProjectPolicyRow {
  /** JSON text, by which the keys of a project share one object. */
  readonly model_permissions: string | null
}

/**
 * SQL: the policy of the project in which the key in this row works. It is read with the key: a change that is announced like a change of
 * the account applies to every key of the project in every process.
 */
export const projectPolicy = (key: string): string => `
  (SELECT json_build_object('mode', m.mode, 'ids', m.model_ids)::text FROM project_model_permissions m
   WHERE m.project_id = coalesce(${key}.project_id, ${key}.account_id)) AS model_permissions`

const SHARED_MAX = 1000
const shared = new Map<string, ProjectPolicy>()

/** Returns null for a project without limits of its own. */
export function projectPolicyOf({ model_permissions: models }: ProjectPolicyRow): ProjectPolicy | null {
  if (models === null) return null
  const known = shared.get(models)
  if (known !== undefined) return known
  const policy = { models: parsePermissions(models) }
  shared.set(models, policy)
  const [oldest] = shared.keys()
  if (shared.size > SHARED_MAX && oldest !== undefined) shared.delete(oldest)
  return policy
}

function parsePermissions(text: string): ModelPermissions {
  const stored: { mode: string; ids: string[] } = JSON.parse(text)
  // An unknown mode of a newer release must not allow more.
  return { mode: stored.mode === 'deny_list' ? 'deny_list' : 'allow_list', modelIds: new Set(stored.ids) }
}
