import { ACCOUNT_NOTES } from './notes/account-notes.ts'
import { COMPARE_NOTES } from './notes/compare-notes.ts'
import { DEPLOYMENT_NOTES } from './notes/deployment-notes.ts'
import { MODEL_NOTES } from './notes/model-notes.ts'
import { OPERATOR_NOTES } from './notes/operator-notes.ts'

/** What each operation does, in sentences, by method and path: `GET /v1/models`. A test asks for one of every operation. */
export const OPERATION_NOTES: Readonly<Record<string, string>> = {
  ...MODEL_NOTES,
  ...COMPARE_NOTES,
  ...DEPLOYMENT_NOTES,
  ...ACCOUNT_NOTES,
  ...OPERATOR_NOTES,
}

/** How an operation is named in the tables of the reference: `GET /v1/models/{id}`. */
export function operationKey({ method, path }: { method: string; path: string }): string {
  return `${method} ${documentPath(path)}`
}

/** With parameters as `{id}`, as the document writes them. */
export function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}
