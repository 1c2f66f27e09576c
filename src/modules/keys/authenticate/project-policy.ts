/** What the project of a key may use. */
export interface ProjectPolicy {
  /** Null: every model. */
  readonly models: ModelPermissions | null
  /** By the id of the model. Null: only the limits of the account. */
  readonly rates: ReadonlyMap<string, ProjectModelRates> | null
}

/** The limits that a project has for a model beside those of its account. Null: none. */
export interface ProjectModelRates {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly imagesPerMinute: number | null
  readonly audioMegabytesPerMinute: number | null
  readonly requestsPerDay: number | null
}

/** Names of models, each of which means the model that it leads to. */
export interface ModelPermissions {
  readonly mode: 'allow_list' | 'deny_list'
  readonly modelIds: ReadonlySet<string>
}

export interface ProjectPolicyRow {
  /** JSON text, by which the keys of a project share one object. */
  readonly model_permissions: string | null
  readonly project_rates: string | null
}

/**
 * SQL: the policy of the project in which the key in this row works. It is read with the key: a change that is announced like a change of
 * the account applies to every key of the project in every process.
 */
export const projectPolicy = (key: string): string => `
  (SELECT json_build_object('mode', m.mode, 'ids', m.model_ids)::text FROM project_model_permissions m
   WHERE m.project_id = coalesce(${key}.project_id, ${key}.account_id)) AS model_permissions,
  (SELECT json_agg(json_build_array(l.model, l.requests_per_minute, l.tokens_per_minute, l.images_per_minute,
     l.audio_megabytes_per_minute, l.requests_per_day) ORDER BY l.model)::text FROM project_rate_limits l
   WHERE l.project_id = coalesce(${key}.project_id, ${key}.account_id)) AS project_rates`

const SHARED_MAX = 1000
const shared = new Map<string, ProjectPolicy>()

/** Returns null for a project without limits of its own. */
export function projectPolicyOf(row: ProjectPolicyRow): ProjectPolicy | null {
  const { model_permissions: models, project_rates: rates } = row
  if (models === null && rates === null) return null
  const text = `${models} ${rates}`
  const known = shared.get(text)
  if (known !== undefined) return known
  const policy = {
    models: models === null ? null : parsePermissions(models),
    rates: rates === null ? null : parseRates(rates),
  }
  shared.set(text, policy)
  const [oldest] = shared.keys()
  if (shared.size > SHARED_MAX && oldest !== undefined) shared.delete(oldest)
  return policy
}

function parsePermissions(text: string): ModelPermissions {
  const stored: { mode: string; ids: string[] } = JSON.parse(text)
  // An unknown mode of a newer release must not allow more.
  return { mode: stored.mode === 'deny_list' ? 'deny_list' : 'allow_list', modelIds: new Set(stored.ids) }
}

type StoredRates = [string, number | null, number | null, number | null, number | null, number | null]

function parseRates(text: string): ReadonlyMap<string, ProjectModelRates> {
  const stored: StoredRates[] = JSON.parse(text)
  return new Map(
    stored.map(([model, requests, tokens, images, audio, day]) => [
      model,
      {
        requestsPerMinute: requests,
        tokensPerMinute: tokens,
        imagesPerMinute: images,
        audioMegabytesPerMinute: audio,
        requestsPerDay: day,
      },
    ]),
  )
}
