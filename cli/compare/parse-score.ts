import type { Schemas } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

type ScoreOrder = NonNullable<Schemas['CompareRunRequest']['scores']>[number]

/** The member that has the value of `type=value`, and whether it is a number. */
const MEMBERS: Readonly<Record<string, { readonly name: string; readonly isNumber?: true }>> = {
  exact: { name: 'value' },
  contains: { name: 'value' },
  similarity: { name: 'value' },
  regex: { name: 'value' },
  json_schema: { name: 'schema' },
  latency: { name: 'max_ms', isNumber: true },
  cost: { name: 'max_usd', isNumber: true },
  webhook: { name: 'url' },
}

/** Reads `type`, `type=value`, or JSON as the API takes it. */
export function parseScore(text: string): ScoreOrder {
  if (text.trimStart().startsWith('{')) return parseJson(text, text) as ScoreOrder
  const at = text.indexOf('=')
  const type = at === -1 ? text : text.slice(0, at)
  const value = at === -1 ? null : text.slice(at + 1)
  const member = Object.hasOwn(MEMBERS, type) ? MEMBERS[type] : undefined
  if (member === undefined)
    throw new CommandFailure(
      EXIT.usage,
      `--score takes one of ${Object.keys(MEMBERS).join(', ')}, not "${type}".`,
    )
  if (value === null) return { type } as ScoreOrder
  const read = member.isNumber ? Number(value) : member.name === 'schema' ? parseJson(value, text) : value
  if (Number.isNaN(read)) throw new CommandFailure(EXIT.usage, `--score ${text}: "${value}" is not a number.`)
  return { type, [member.name]: read } as ScoreOrder
}

function parseJson(text: string, option: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `--score ${option} is not JSON: ${(error as Error).message}.`)
  }
}
