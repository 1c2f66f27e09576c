import { AppError, invalidValue, notFound } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Caller, Scope } from '../authenticate/caller.ts'

/** The project and the owner of a key. All null: the account itself. */
export interface KeyPlacement {
  readonly projectId: string | null
  readonly userId: string | null
  readonly serviceAccountId: string | null
}

interface KeyOrder {
  readonly caller: Caller
  readonly accountId: string
  readonly projectId?: string | undefined
  /** A service account of the project, which becomes the owner. Otherwise the key belongs to whom its maker belongs to. */
  readonly serviceAccountId?: string | undefined
  readonly scopes: readonly Scope[]
}

/** Returns where a new key belongs: to the project of its maker or the one that was asked for, and to the owner of its maker. */
export async function placeKey(transaction: Queryable, order: KeyOrder): Promise<KeyPlacement> {
  const { caller, accountId, serviceAccountId } = order
  const isOwnAccount = caller.accountId === accountId
  const own = isOwnAccount ? caller.projectId : null
  const projectId = order.projectId?.toLowerCase() ?? own
  if (own !== null && projectId !== own) throw notFound('project')
  if (projectId !== null) {
    await requireActiveProject(transaction, accountId, projectId)
    if (order.scopes.includes('admin'))
      throw invalidValue(
        'scopes',
        'A key of a project cannot operate the gateway: leave out the scope admin.',
      )
  }
  if (serviceAccountId !== undefined) return { projectId, userId: null, serviceAccountId }
  if (!isOwnAccount) return { projectId, userId: null, serviceAccountId: null }
  return { projectId, userId: caller.userId ?? null, serviceAccountId: caller.serviceAccountId ?? null }
}

async function requireActiveProject(
  transaction: Queryable,
  accountId: string,
  projectId: string,
): Promise<void> {
  const [project] = isUuid(projectId)
    ? await transaction.query<{ archived_at: Date | null }>(
        'SELECT archived_at FROM projects WHERE id = $1 AND account_id = $2 FOR SHARE',
        [projectId, accountId],
      )
    : []
  if (project === undefined) throw notFound('project')
  if (project.archived_at !== null) throw new AppError('conflict', 'The project is archived.')
}
