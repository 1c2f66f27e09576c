import { ACCOUNT_NOTES } from './notes/account-notes.ts'
import { AGENT_NOTES } from './notes/agent-notes.ts'
import { COMPARE_NOTES } from './notes/compare-notes.ts'
import { DEPLOYMENT_NOTES } from './notes/deployment-notes.ts'
import { FILE_NOTES } from './notes/file-notes.ts'
import { MODEL_NOTES } from './notes/model-notes.ts'
import { OPERATOR_NOTES } from './notes/operator-notes.ts'
import { BATCH_NOTES } from './notes/batch-notes.ts'
import { BUDGET_NOTES } from './notes/budget-notes.ts'
import { OAUTH_NOTES } from './notes/oauth-notes.ts'
import { ORGANIZATION_NOTES } from './notes/organization-notes.ts'
import { SCIM_NOTES } from './notes/scim-notes.ts'

/** Descriptions of all operations by method and path: `GET /v1/models`. A test checks that each operation has one. */
export const OPERATION_NOTES: Readonly<Record<string, string>> = {
  ...MODEL_NOTES,
  ...FILE_NOTES,
  ...BATCH_NOTES,
  ...COMPARE_NOTES,
  ...DEPLOYMENT_NOTES,
  ...ACCOUNT_NOTES,
  ...OPERATOR_NOTES,
  ...ORGANIZATION_NOTES,
  ...BUDGET_NOTES,
  ...OAUTH_NOTES,
  ...AGENT_NOTES,
  ...SCIM_NOTES,
}

/** Returns the key of an operation in the tables of the reference: `GET /v1/models/{id}`. Another path has the same one. */
export function operationKey({
  method,
  path,
  aliasOf,
}: {
  method: string
  path: string
  aliasOf?: string | undefined
}): string {
  return `${method} ${documentPath(aliasOf ?? path)}`
}

/** Converts the path parameters to OpenAPI's form: `:id` to `{id}`. */
export function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}
