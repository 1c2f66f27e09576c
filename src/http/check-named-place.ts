import { AppError } from '../kernel/app-error.ts'
import type { Caller } from '../modules/keys/keys.ts'
import { parseWireId } from '../wires/organization-ids.ts'
import type { RequestMessage } from './message.ts'

const ORGANIZATION = 'openai-organization'
const PROJECT = 'openai-project'

/** Whether the request names an organization or a project. Nearly none does, so this is all that it costs. */
export function namesPlace(headers: RequestMessage['headers']): boolean {
  return headers[ORGANIZATION] !== undefined || headers[PROJECT] !== undefined
}

/**
 * Throws, with OpenAI's code and message, unless the headers name the account and the project of the key. A key of the account works in
 * the project `Default`, which has the id of the account.
 */
export function checkNamedPlace(headers: RequestMessage['headers'], caller: Caller): Caller {
  const { accountId, projectId } = caller
  if (!isNamed('organization', headers[ORGANIZATION], accountId)) {
    const message = 'OpenAI-Organization header should match organization for API key'
    throw new AppError('mismatched_organization', message)
  }
  if (!isNamed('project', headers[PROJECT], projectId ?? accountId)) {
    throw new AppError('mismatched_project', 'OpenAI-Project header should match project for API key')
  }
  return caller
}

/** An empty header names nothing: clients send one for a setting that is empty. */
function isNamed(
  kind: 'organization' | 'project',
  header: string | string[] | undefined,
  id: string,
): boolean {
  if (header === undefined || header === '') return true
  return typeof header === 'string' && parseWireId(kind, header.trim()) === id
}
