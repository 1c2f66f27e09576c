import { readFileSync } from 'node:fs'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { explainReadError } from '../files/explain-read-error.ts'

/** Returns the `response_format` for a schema that is given as JSON or as the path of a file with it. */
export function parseSchema(source: string): object {
  let text = source
  if (!source.trimStart().startsWith('{')) {
    try {
      text = readFileSync(source, 'utf8')
    } catch (error) {
      throw explainReadError(source, error)
    }
  }
  try {
    const schema: unknown = JSON.parse(text)
    return { type: 'json_schema', json_schema: { name: 'answer', schema } }
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `The schema is not JSON: ${(error as Error).message}.`)
  }
}
