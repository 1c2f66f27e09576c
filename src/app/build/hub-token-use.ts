import type { Database } from '../../storage/database.ts'
import type { Config } from '../settings/config.ts'

/** Says which accounts the operator's hub token serves. */
export interface HubTokenUse {
  isAllowed(accountId: string): Promise<boolean>
  /** The same for the account of a deployment's run. */
  isAllowedForRun(runId: string): Promise<boolean>
}

const ALL = '*'

/** Allows the accounts that the settings name or, if they name none, the operator's own: those with a key of the scope `admin`. */
export function createHubTokenUse(
  { hfToken, hfTokenAccounts }: Pick<Config, 'hfToken' | 'hfTokenAccounts'>,
  database: Pick<Database, 'query'>,
): HubTokenUse {
  const named = new Set(hfTokenAccounts.map((id) => id.toLowerCase()))
  const isOperators = async (accountId: string): Promise<boolean> => {
    const found = await database.query<object>(
      `SELECT 1 AS one FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL AND 'admin' = ANY (scopes) LIMIT 1`,
      [accountId],
    )
    return found.length > 0
  }
  const isAllowed = async (accountId: string): Promise<boolean> => {
    if (hfToken === null) return false
    return named.size === 0 ? isOperators(accountId) : named.has(ALL) || named.has(accountId)
  }
  return {
    isAllowed,
    isAllowedForRun: async (runId) => {
      if (hfToken === null) return false
      const [row] = await database.query<{ account_id: string }>(
        'SELECT account_id FROM deployment_runs WHERE id = $1',
        [runId],
      )
      return row !== undefined && isAllowed(row.account_id)
    },
  }
}
