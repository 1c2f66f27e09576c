import { AppError } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { LogQuery, RequestLog, StoredBodies } from '../../request-log/request-log.ts'
import type { PromptCase } from '../prompt-case.ts'
import { DATASET_BYTES_MAX } from './dataset-file.ts'

export interface LoggedPromptsOptions {
  readonly requestLog: Pick<RequestLog, 'list'>
  readonly storedBodies: Pick<StoredBodies, 'read'>
}

export interface LoggedPromptsOrder {
  readonly accountId: string
  readonly query: Omit<LogQuery, 'page' | 'accountId'>
  readonly countMax: number
  /** Returns the prompt of a body of this operation. Null if it has none. */
  readonly readPrompt: (operation: string, body: string) => PromptCase | null
  readonly cancellation: Cancellation
}

const ENTRIES_A_PAGE = 100
/** A request that finds few bodies still ends soon. */
const PAGES_MAX = 20

/**
 * Returns the prompts of logged requests whose bodies are stored and whole, newest first, each once. Reads a bounded number of
 * entries of the log.
 */
export async function readLoggedPrompts(
  { requestLog, storedBodies }: LoggedPromptsOptions,
  { accountId, query, countMax, readPrompt, cancellation }: LoggedPromptsOrder,
): Promise<PromptCase[]> {
  const prompts = new Map<string, PromptCase>()
  let bytes = 0
  let afterId: string | null = null
  for (let page = 0; page < PAGES_MAX && !cancellation.isCancelled; page += 1) {
    const { entries, nextCursor } = await requestLog.list({
      ...query,
      accountId,
      page: { limit: ENTRIES_A_PAGE, afterId },
    })
    for (const { id, keyId, operation } of entries) {
      const text = await readBody(storedBodies, { accountId, id, keyId })
      const prompt = text === null ? null : readPrompt(operation, text)
      if (prompt === null) continue
      const said = JSON.stringify(prompt.messages)
      if (prompts.has(said)) continue
      bytes += Buffer.byteLength(said)
      if (bytes > DATASET_BYTES_MAX) return [...prompts.values()]
      prompts.set(said, { ...prompt, id: `req_${id.replaceAll('-', '')}` })
      if (prompts.size >= countMax) return [...prompts.values()]
    }
    if (nextCursor === null) break
    afterId = nextCursor
  }
  return [...prompts.values()]
}

/** Null if the body is not stored, or not whole. */
async function readBody(
  storedBodies: LoggedPromptsOptions['storedBodies'],
  { accountId, id, keyId }: { accountId: string; id: string; keyId: string },
): Promise<string | null> {
  try {
    const { request } = await storedBodies.read(accountId, id, keyId)
    return request.isCut ? null : request.text
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}
