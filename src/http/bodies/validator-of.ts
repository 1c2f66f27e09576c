import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

const compiled = new WeakMap<TSchema, Validator>()

/**
 * Returns the compiled validator of a schema. To compile those of all routes takes a third of the start of a server, and a process
 * uses few of them: call it when a value is to be checked.
 */
export function validatorOf(schema: TSchema): Validator {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const validator = Compile(schema)
  compiled.set(schema, validator)
  return validator
}
