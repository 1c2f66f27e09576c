import { editJsonObject } from '../../kernel/json/edit-json-object.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'

/** How a cloud wants a request of Anthropic's wire: the version is in the body, and the model in the path. */
export interface ClaudeOnCloud {
  readonly version: string
  /** Whether features are named in the body (`anthropic_beta`) and not in the header. */
  readonly hasFeaturesInBody?: boolean
  /** Whether the path says that the answer is streamed. */
  readonly hasStreamInPath?: boolean
}

const BETA_HEADER = 'anthropic-beta'
const VERSION_HEADER = 'anthropic-version'

/** Returns the text of a request of Anthropic's wire as a cloud wants it. Everything else is unchanged. */
export function writeClaudeRequest(
  text: string,
  headers: readonly string[],
  { version, hasFeaturesInBody = false, hasStreamInPath = false }: ClaudeOnCloud,
): string {
  const features = hasFeaturesInBody ? readFeatures(headers) : []
  const edits = new Map<string, string | null>([
    ['model', null],
    ['anthropic_version', JSON.stringify(version)],
    ...(hasStreamInPath ? [['stream', null] as const] : []),
    ...(features.length === 0 ? [] : [['anthropic_beta', JSON.stringify(features)] as const]),
  ])
  return editJsonObject(text, edits) ?? serialise(text, edits)
}

/** Returns the headers of a request of Anthropic's wire that a cloud reads. */
export function selectClaudeHeaders(
  headers: readonly string[],
  { hasFeaturesInBody = false }: ClaudeOnCloud,
): string[] {
  return headers.filter((_, index) => {
    const name = headers[index - (index % 2)]
    return name !== VERSION_HEADER && !(hasFeaturesInBody && name === BETA_HEADER)
  })
}

function readFeatures(headers: readonly string[]): string[] {
  const index = headers.findIndex((name, at) => at % 2 === 0 && name === BETA_HEADER)
  if (index === -1) return []
  const names = (headers[index + 1] ?? '').split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
}

function serialise(text: string, edits: ReadonlyMap<string, string | null>): string {
  const value: unknown = parseJson(text)
  const members = new Map(Object.entries(isRecord(value) ? value : {}))
  for (const [name, edit] of edits) {
    if (edit === null) members.delete(name)
    else members.set(name, JSON.parse(edit))
  }
  return stringifyJson(Object.fromEntries(members))
}
