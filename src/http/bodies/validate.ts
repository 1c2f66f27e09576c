import type { TSchema } from 'typebox'
import { compileLengths } from './check-lengths.ts'
import { convertText } from './convert-text.ts'
import { describeProblem } from './describe-problem.ts'
import { findProblem } from './find-problem.ts'
import { validatorOf } from './validator-of.ts'

/** Makes a check of a schema that throws an `AppError` with the name of the invalid field. */
export function compileCheck(schema: TSchema): (value: unknown) => void {
  const findLongArray = compileLengths(schema)
  return (value) => {
    const tooLong = findLongArray(value)
    if (tooLong !== null) throw describeProblem(tooLong)
    if (!validatorOf(schema).Check(value)) throw describeProblem(findProblem(schema, value))
  }
}

/** Makes a check of values that arrive as text, such as query parameters. Converts numbers and booleans, then validates. */
export function compileConversion(schema: TSchema): (value: unknown) => unknown {
  return (value) => {
    const validator = validatorOf(schema)
    const converted = convertText(schema, validator.Default(value))
    if (!validator.Check(converted)) throw describeProblem(findProblem(schema, converted))
    return converted
  }
}
