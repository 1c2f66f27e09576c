import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { readFileValue } from './read-attachment.ts'

/** Returns the members of a request from `key=text`, `key=@file` and `key:=JSON`. A key that is given twice becomes a list. */
export function parseModelInputs(inputs: readonly string[]): Record<string, unknown> {
  const members = new Map<string, unknown[]>()
  for (const input of inputs) {
    const [, key, isJson, value] = /^([\w.-]+)(:?)=([\s\S]*)$/.exec(input) ?? []
    if (key === undefined || value === undefined)
      throw new CommandFailure(EXIT.usage, `-i takes key=value, key=@file or key:=JSON, and not "${input}".`)
    const parsed = isJson === ':' ? parseJson(key, value) : readValue(value)
    members.set(key, [...(members.get(key) ?? []), parsed])
  }
  // Without a prototype, because a key may be named like one of its members.
  const request = Object.create(null) as Record<string, unknown>
  for (const [key, values] of members) request[key] = values.length === 1 ? values[0] : values
  return request
}

function readValue(value: string): string {
  return value.startsWith('@') ? readFileValue(value.slice(1)) : value
}

function parseJson(key: string, value: string): unknown {
  try {
    return JSON.parse(value)
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `The value of "${key}" is not JSON: ${(error as Error).message}.`)
  }
}
