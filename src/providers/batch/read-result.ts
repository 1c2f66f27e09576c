import { isRecord } from '../../kernel/is-record.ts'
import { parseJsonInTurns } from '../../kernel/json/parse-json-in-turns.ts'
import type { BatchResult } from './batch-api.ts'

/** Reads each line as a result. What is none is left out: its line counts as one without an answer. */
export async function* readResults(
  lines: AsyncIterable<Buffer | null>,
  read: (line: Record<string, unknown>) => BatchResult | null,
): AsyncGenerator<BatchResult, void> {
  for await (const line of lines) {
    const parsed = line === null ? null : await parseOrNull(line)
    const result = isRecord(parsed) ? read(parsed) : null
    if (result !== null) yield result
  }
}

async function parseOrNull(line: Buffer): Promise<unknown> {
  try {
    return (await parseJsonInTurns(line.toString('utf8'))).value
  } catch {
    return null
  }
}

/** Null for anything that is no status of an answer. */
export function toResult(id: unknown, status: unknown, body: unknown): BatchResult | null {
  if (typeof id !== 'string' || !isRecord(body)) return null
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) return null
  return { id, status, body: Buffer.from(JSON.stringify(body)) }
}
