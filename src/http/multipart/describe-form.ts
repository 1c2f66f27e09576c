import type { TSchema } from 'typebox'
import type { JsonObject, SchemaReader } from '../reference/openapi-schemas.ts'
import type { FileRule, FormDescription } from './form.ts'

/** Describes a route's body as a form, for the reference: the same fields, but with files instead of the members they replace. */
export function describeForm({ files }: FormDescription, body: TSchema, read: SchemaReader): JsonObject {
  const { properties = {}, required = [] }: { properties?: Record<string, TSchema>; required?: string[] } =
    body
  const fields = Object.entries(properties)
    .filter(([name]) => !Object.hasOwn(files, name))
    .map(([name, schema]) => [name, read(schema)])
  const rules = Object.entries(files)
  return {
    type: 'object',
    required: [
      ...required.filter((name) => !Object.hasOwn(files, name)),
      ...rules.flatMap(([name, rule]) => (rule.isRequired ? [name] : [])),
    ],
    properties: Object.fromEntries([...rules.map(([name, rule]) => [name, describeFile(rule)]), ...fields]),
  }
}

/** Converts the example of the JSON body to a form, with placeholders for the content of files. */
export function describeFormExample({ files }: FormDescription, example: unknown): JsonObject {
  const needed = Object.entries(files).flatMap(([name, rule]) =>
    rule.isRequired ? [[name, '(a file)']] : [],
  )
  const given = Object.entries(Object(example)).map(([name, value]) => [
    name,
    Object.hasOwn(files, name) ? '(a file)' : value,
  ])
  return Object.fromEntries([...given, ...needed])
}

function describeFile({ countMax, bytesMax, description }: FileRule): JsonObject {
  const bounded = `${description} At most ${Math.floor(bytesMax / (1024 * 1024))} MB.`
  const file = { type: 'string', contentMediaType: 'application/octet-stream', format: 'binary' }
  return countMax === 1
    ? { ...file, description: bounded }
    : { type: 'array', items: file, maxItems: countMax, description: bounded }
}
