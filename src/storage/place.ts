/**
 * Where rows belong and which rows are seen: an account, or one project of it. A caller, a reader and a task are places too. What
 * reads or writes rows takes a place, not the id of an account, so that no query forgets the project.
 */
export interface Place {
  readonly accountId: string
  /** Null: a row of the project `Default` when it is written, the whole account when rows are read. */
  readonly projectId: string | null
}

/** For operators and for work of the gateway itself. */
export function wholeAccount(accountId: string): Place {
  return { accountId, projectId: null }
}

/**
 * SQL: whether a row with the columns `account_id` and `project_id` is within the place whose `idsOf` is the parameter. Three texts
 * and not one with `OR`, so that each has a plan by index, and the one for an account is as without projects.
 */
export function isWithin(place: Place, parameter: string, table?: string): string {
  const prefix = table === undefined ? '' : `${table}.`
  if (!isOtherProject(place)) {
    const isOfAccount = `${prefix}account_id = ${parameter}`
    return place.projectId === null
      ? isOfAccount
      : `${isOfAccount} AND (${prefix}project_id IS NULL OR ${prefix}project_id = ${prefix}account_id)`
  }
  const ids = `(${parameter}::uuid[])`
  return `${prefix}account_id = ${ids}[1] AND ${prefix}project_id = ${ids}[2]`
}

/** The value of the parameter of `isWithin`. */
export function idsOf(place: Place): string {
  return isOtherProject(place) ? `{${place.accountId},${place.projectId}}` : place.accountId
}

/** The same as `isWithin`, for a row that was read. */
export function isRowWithin(place: Place, row: Place): boolean {
  if (row.accountId !== place.accountId) return false
  return place.projectId === null || (row.projectId ?? row.accountId) === place.projectId
}

/** The id of the project `Default` is that of its account. */
function isOtherProject({ accountId, projectId }: Place): boolean {
  return projectId !== null && projectId !== accountId
}
