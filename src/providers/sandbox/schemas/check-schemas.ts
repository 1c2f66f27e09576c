import { isRecord } from '../../../kernel/is-record.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { refuseRequest } from '../media/refuse-request.ts'

/** Higher limits than those of any vendor. */
const SCHEMA_LENGTH_MAX = 256 * 1024
const SCHEMA_DEPTH_MAX = 100

/** Refuses schemas that no vendor would accept, before they are processed. */
export function checkSchemas({ tools, response_format: format }: ChatRequest): void {
  if (format?.type === 'json_schema')
    checkSchema(format.json_schema.schema, 'response_format.json_schema.schema')
  for (const [index, tool] of (tools ?? []).entries())
    if (tool.type === 'function') checkSchema(tool.function.parameters, `tools.${index}.function.parameters`)
}

function checkSchema(schema: unknown, param: string): void {
  if (!isRecord(schema)) return
  const text = stringifyJson(schema)
  if (text.length > SCHEMA_LENGTH_MAX)
    throw refuseRequest(`The sandbox takes schemas of up to ${SCHEMA_LENGTH_MAX} characters.`, param)
  if (isDeeper(schema, SCHEMA_DEPTH_MAX))
    throw refuseRequest(`The sandbox takes schemas of up to ${SCHEMA_DEPTH_MAX} levels.`, param)
}

/** Checks level by level, so that deep schemas do not overflow the stack. */
function isDeeper(root: unknown, depthMax: number): boolean {
  let level = [root]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return true
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    )
  }
  return false
}
