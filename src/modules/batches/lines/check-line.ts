import { AppError } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { AT_ONCE_LENGTH_MAX, parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts'
import { JsonExcess, parseJson } from '../../../kernel/json/parse-json.ts'
import { isStorable } from '../../../kernel/storable-text.ts'
import type { Caller } from '../../keys/keys.ts'
import type { LineProblem } from '../batch.ts'
import type { BatchEndpoint, LineQuote } from '../endpoint.ts'

const CUSTOM_ID_LENGTH_MAX = 512
export const LINE_BYTES_MAX = 8 * 1024 * 1024

/** A line that can be asked. */
export interface ReadLine {
  readonly customId: string
  readonly body: unknown
  /** Null for a body without a model. */
  readonly quote: LineQuote | null
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** A line that cannot be asked. */
export interface WrongLine extends Omit<LineProblem, 'line'> {
  /** Null if the line does not say it. */
  readonly customId: string | null
}

/** Parses the JSON of a line. Throws a `SyntaxError` for text that is none. */
export async function parseLine(content: Buffer): Promise<unknown> {
  let text: string
  try {
    text = decoder.decode(content)
  } catch (error) {
    throw new SyntaxError('The line is not UTF-8.', { cause: error })
  }
  return text.length > AT_ONCE_LENGTH_MAX ? (await parseJsonInTurns(text)).value : parseJson(text)
}

/** Reads a line and checks it against its endpoint. Returns what is wrong with it, or the line. */
export async function checkLine(
  content: Buffer,
  { endpoint, caller }: { readonly endpoint: BatchEndpoint; readonly caller: Caller },
): Promise<ReadLine | WrongLine> {
  const line = await parseLine(content).catch((error: unknown) => {
    const why = error instanceof JsonExcess ? `The line ${error.predicate}.` : 'The line is not valid JSON.'
    return new AppError('invalid_json', why, { cause: error })
  })
  if (line instanceof AppError) return problem('invalid_json_line', line.message, null)
  if (!isRecord(line)) return problem('invalid_json_line', 'The line is no JSON object.', null)
  const { custom_id: customId, method, url, body } = line
  if (typeof customId !== 'string' || customId === '')
    return problem('missing_required_parameter', "'custom_id' must be a text.", 'custom_id')
  if (customId.length > CUSTOM_ID_LENGTH_MAX || !isStorable(customId))
    return problem(
      'invalid_value',
      `'custom_id' must be a text of at most ${CUSTOM_ID_LENGTH_MAX} characters that can be stored.`,
      'custom_id',
    )
  const wrong = checkRequest({ method, url, body }, endpoint)
  if (wrong !== null) return { ...wrong, customId }
  try {
    endpoint.check(body)
    return { customId, body, quote: endpoint.quote(caller, body) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const param = error.param === null ? 'body' : `body.${error.param}`
    return { ...problem(error.code, error.message, param), customId }
  }
}

function checkRequest(
  { method, url, body }: { readonly method: unknown; readonly url: unknown; readonly body: unknown },
  endpoint: BatchEndpoint,
): WrongLine | null {
  if (method !== 'POST') return problem('invalid_method', "'method' must be 'POST'.", 'method')
  if (url !== endpoint.path)
    return problem('invalid_url', `'url' must be the endpoint of the batch, '${endpoint.path}'.`, 'url')
  if (!isRecord(body)) return problem('invalid_request', "'body' must be a JSON object.", 'body')
  if (body['stream'] === true || body['background'] === true)
    return problem('unsupported_parameter', 'A line cannot be streamed or run in the background.', 'body')
  return null
}

export function isWrong(checked: ReadLine | WrongLine): checked is WrongLine {
  return 'code' in checked
}

function problem(code: string, message: string, param: string | null): WrongLine {
  return { code, message, param, customId: null }
}
