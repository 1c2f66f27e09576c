import { isRecord } from '../src/kernel/is-record.ts'
import { writeSchemaType } from './write-schema-type.ts'

type Document = Readonly<Record<string, unknown>>

/** Writes the OpenAPI document as the type `paths`, in the form that openapi-fetch reads. */
export function writeApiTypes(document: Document): string {
  const components = recordOf(document['components'])
  const responses = recordOf(components['responses'])
  const schemas = Object.entries(recordOf(components['schemas'])).map(
    ([name, schema]) => `${JSON.stringify(name)}: ${writeSchemaType(schema)}`,
  )
  const paths = Object.entries(recordOf(document['paths'])).map(([path, operations]) => {
    const written = Object.entries(recordOf(operations)).map(
      ([method, operation]) => `${method}: ${writeOperation(recordOf(operation), responses)}`,
    )
    return `${JSON.stringify(path)}: {\n  ${written.join('\n  ')}\n}`
  })
  return [
    '// Generated from the route table of the gateway by api-types/generate-api-types.ts.',
    `export interface components { schemas: {\n${schemas.join('\n')}\n} }`,
    `export interface paths {\n${paths.join('\n')}\n}`,
    '',
  ].join('\n')
}

function writeOperation(operation: Document, shared: Document): string {
  const answers = Object.entries(recordOf(operation['responses'])).map(([status, answer]) => {
    const { $ref } = recordOf(answer)
    const meant = typeof $ref === 'string' ? shared[$ref.split('/').at(-1) ?? ''] : answer
    const content = writeContent(recordOf(meant)['content'])
    return `${status}: { headers: { [name: string]: unknown }; content: ${content} }`
  })
  const body = operation['requestBody']
  const question = recordOf(body)['required'] === true ? '' : '?'
  const request =
    body === undefined
      ? 'requestBody?: never'
      : `requestBody${question}: { content: ${writeContent(recordOf(body)['content'])} }`
  return `{ parameters: ${writeParameters(operation['parameters'])}; ${request}; responses: { ${answers.join('; ')} } }`
}

function writeContent(content: unknown): string {
  const types = Object.entries(recordOf(content)).map(
    ([type, representation]) =>
      `${JSON.stringify(type)}: ${writeSchemaType(recordOf(representation)['schema'])}`,
  )
  return types.length === 0 ? '{ [type: string]: unknown }' : `{ ${types.join('; ')} }`
}

function writeParameters(parameters: unknown): string {
  const given = Array.isArray(parameters) ? parameters.map(recordOf) : []
  const places = ['query', 'path', 'header', 'cookie'].map((place) => {
    const own = given.filter((parameter) => parameter['in'] === place)
    if (own.length === 0) return `${place}?: never`
    const isNeeded = own.some(({ required }) => required === true)
    const members = own.map(
      ({ name, required, schema }) =>
        `${JSON.stringify(name)}${required === true ? '' : '?'}: ${writeSchemaType(schema)}${required === true ? '' : ' | undefined'}`,
    )
    return `${place}${isNeeded ? '' : '?'}: { ${members.join('; ')} }`
  })
  return `{ ${places.join('; ')} }`
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}
